// Writes XML documents from plain values and escapes their text.

export type XmlValue = string | number | boolean | undefined | readonly XmlElement[];
/** Name, content and optional attributes. An element with an undefined value is omitted. */
export type XmlElement = readonly [name: string, value: XmlValue, attributes?: string];

const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Formats a document in the namespace of S3. Error documents have no namespace. */
export function xmlDocument(name: string, value: XmlValue): string {
  return declaration + write([name, value, namespace]);
}

export function xmlDocumentIn(otherNamespace: string, name: string, value: XmlValue): string {
  return declaration + write([name, value, `xmlns="${otherNamespace}"`]);
}

/** As in S3, quotes in errors are not escaped: clients search error messages for conditions. */
export function errorDocument(children: readonly XmlElement[]): string {
  return declaration + write(["Error", children]).replaceAll("&quot;", '"');
}

function write([name, value, attributes]: XmlElement): string {
  if (value === undefined) return "";
  const opening = attributes === undefined ? name : `${name} ${attributes}`;
  const inner = typeof value === "object" ? value.map(write).join("") : escapeXml(String(value));
  return inner === "" && typeof value === "object" ? `<${opening}/>` : `<${opening}>${inner}</${name}>`;
}

/** Control characters become character references as in S3, although XML 1.0 forbids them. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"\x00-\x1f\x7f\ufffe\uffff]/g, (c) => {
    if (c === "&") return "&amp;";
    if (c === "<") return "&lt;";
    if (c === ">") return "&gt;";
    if (c === '"') return "&quot;";
    return `&#x${c.charCodeAt(0).toString(16).toUpperCase()};`;
  });
}
