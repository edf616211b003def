// A second, simple decoder of aws-chunked bodies, to compare with the product's decoder.

/** Returns the bytes of all chunks; undefined if a chunk does not match its length. */
export function unframed(text: string): string | undefined {
  let body = "";
  for (let at = 0; ; ) {
    const end = text.indexOf("\r\n", at);
    const line = end === -1 ? text.slice(at) : text.slice(at, end);
    const size = Number.parseInt(line, 16);
    if (size === 0) return body;
    const chunk = text.slice(end + 2, end + 2 + size);
    if (end === -1 || chunk.length !== size || text.slice(end + 2 + size, end + 4 + size) !== "\r\n")
      return undefined;
    body += chunk;
    at = end + 4 + size;
  }
}
