// Encodes FormData as multipart/form-data (RFC 7578 and the HTML standard). The result is a Blob:
// its files are not copied, and its length is known before it is read.
import { Blob } from "node:buffer";
import { randomBytes } from "node:crypto";

export function encodeFormData(form: FormData): { readonly blob: Blob; readonly contentType: string } {
  const boundary = `----formdata-${randomBytes(16).toString("hex")}`;
  const parts: (string | Blob)[] = [];
  for (const [name, value] of form) {
    const field = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(withCrlf(name))}"`;
    if (typeof value === "string") {
      parts.push(`${field}\r\n\r\n${withCrlf(value)}\r\n`);
    } else {
      const type = value.type === "" ? "application/octet-stream" : value.type;
      parts.push(`${field}; filename="${escapeName(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`);
      parts.push(value, "\r\n");
    }
  }
  parts.push(`--${boundary}--\r\n`);
  return { blob: new Blob(parts), contentType: `multipart/form-data; boundary=${boundary}` };
}

function withCrlf(text: string): string {
  return text.replace(/\r\n?|\n/g, "\r\n");
}

function escapeName(name: string): string {
  return name.replace(/\n/g, "%0A").replace(/\r/g, "%0D").replace(/"/g, "%22");
}
