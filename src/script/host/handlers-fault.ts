// A fault of a script without a position in its code; it is shown without a stack trace.
export class HandlersFault extends TypeError {}
