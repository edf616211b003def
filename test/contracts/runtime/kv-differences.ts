// What the runtime's namespaces do differently from the binding of the process tier.
// docs/isolation.md has the same table.
import type { Difference } from "./differences.ts";

export const kvDifferences: readonly Difference[] = [
  {
    what: "an operation on a missing namespace fails with 400 instead of 404",
    reason: "the runtime regards 404 as a missing key",
    tests: [
      "key-value namespaces on memory fulfil their contract > operations on a missing namespace fail with an error that names it",
    ],
  },
  {
    what: "a stream that is refused is not always cancelled, and an endless stream is not ended at the limit",
    reason: "the runtime reads the stream, and reads the response only after the body",
    tests: [
      "key-value namespaces on memory fulfil their contract > an endless stream is cancelled at the size limit, and nothing is stored",
      "key-value namespaces on memory fulfil their contract > a put with an invalid argument cancels its stream",
    ],
  },
  {
    what: "some invalid keys, values and metadata are converted instead of refused, and errors for others have another text",
    reason: "the runtime checks arguments by its own rules, before they reach Store",
    tests: [
      'key-value namespaces on memory fulfil their contract > a key that is empty, ".", ".." or longer than 512 UTF-8 bytes is refused',
      "key-value namespaces on memory fulfil their contract > a key that is not a string is converted to one, and a symbol is refused",
      "key-value namespaces on memory fulfil their contract > a missing key is refused",
      "key-value namespaces on memory fulfil their contract > put without a value is refused",
      "key-value namespaces on memory fulfil their contract > metadata that JSON cannot represent is refused with a TypeError",
    ],
  },
  {
    what: "a lone surrogate becomes three replacement characters",
    reason: "the runtime encodes it as three bytes that are not UTF-8",
    tests: [
      "key-value namespaces on memory fulfil their contract > a lone surrogate in a value is replaced with U+FFFD",
    ],
  },
];
