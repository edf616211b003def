// Event classes of the web platform that Node lacks.

interface EventInit {
  readonly bubbles?: boolean;
  readonly cancelable?: boolean;
  readonly composed?: boolean;
}

interface ErrorEventInit extends EventInit {
  readonly message?: string;
  readonly filename?: string;
  readonly lineno?: number;
  readonly colno?: number;
  readonly error?: unknown;
}

export class ErrorEvent extends Event {
  readonly message: string;
  readonly filename: string;
  readonly lineno: number;
  readonly colno: number;
  readonly error: unknown;

  constructor(type: string, init: ErrorEventInit = {}) {
    super(type, init);
    this.message = init.message ?? "";
    this.filename = init.filename ?? "";
    this.lineno = init.lineno ?? 0;
    this.colno = init.colno ?? 0;
    this.error = init.error;
  }
}

interface CloseEventInit extends EventInit {
  readonly wasClean?: boolean;
  readonly code?: number;
  readonly reason?: string;
}

export class CloseEvent extends Event {
  readonly wasClean: boolean;
  readonly code: number;
  readonly reason: string;

  constructor(type: string, init: CloseEventInit = {}) {
    super(type, init);
    this.wasClean = init.wasClean ?? false;
    this.code = init.code ?? 0;
    this.reason = init.reason ?? "";
  }
}

interface PromiseRejectionEventInit extends EventInit {
  readonly promise: Promise<unknown>;
  readonly reason?: unknown;
}

export class PromiseRejectionEvent extends Event {
  readonly promise: Promise<unknown>;
  readonly reason: unknown;

  constructor(type: string, init: PromiseRejectionEventInit) {
    super(type, init);
    this.promise = init.promise;
    this.reason = init.reason;
  }
}
