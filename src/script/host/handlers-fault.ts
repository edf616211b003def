// A fault of a script without a position in its code; it is shown without a stack trace.
export class HandlersFault extends TypeError {}

/** The script's class lacks the handler of an event. This is not an error inside the script. */
export class MissingHandler extends TypeError {
  override readonly name = "MissingHandler";
}
