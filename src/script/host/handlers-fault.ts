// A fault of a script that has no position in its code: it is shown without a stack.
export class HandlersFault extends TypeError {}
