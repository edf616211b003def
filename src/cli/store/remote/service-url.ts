// The URL of a service: scheme, host and port, without a path or a password.

export interface ServiceUrl {
  readonly hostname: string;
  readonly port: number;
  readonly tls: boolean;
}

const shape = /^(https?):\/\/(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?\/?$/;

/** Returns undefined if the text is not the URL of a service. */
export function serviceUrl(text: string): ServiceUrl | undefined {
  const [, scheme, v6, name, port] = shape.exec(text) ?? [];
  const hostname = v6 ?? name;
  if (hostname === undefined) return undefined;
  const tls = scheme === "https";
  const number = port === undefined ? (tls ? 443 : 80) : Number(port);
  return number >= 1 && number <= 65_535 ? { hostname, port: number, tls } : undefined;
}
