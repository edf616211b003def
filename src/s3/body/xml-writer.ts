// Writes XML: elements from plain values. Text is escaped in one place.

export type XmlValue = string | number | boolean | undefined | readonly XmlElement[];
/** A name, what is in it, and attributes if any. Without a value nothing is written. */
export type XmlElement = readonly [name: string, value: XmlValue, attributes?: string];

const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** A document of S3's: everything but errors has the namespace. */
export function xmlDocument(name: string, value: XmlValue): string {
  return declaration + write([name, value, namespace]);
}

export function errorDocument(children: readonly XmlElement[]): string {
  return declaration + write(["Error", children]);
}

function write([name, value, attributes]: XmlElement): string {
  if (value === undefined) return "";
  const opening = attributes === undefined ? name : `${name} ${attributes}`;
  const inner = typeof value === "object" ? value.map(write).join("") : escapeXml(String(value));
  return inner === "" && typeof value === "object" ? `<${opening}/>` : `<${opening}>${inner}</${name}>`;
}

/** Control characters have no place in XML 1.0; S3 sends them as references all the same. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"\x00-\x1f\x7f\ufffe\uffff]/g, (c) => {
    if (c === "&") return "&amp;";
    if (c === "<") return "&lt;";
    if (c === ">") return "&gt;";
    if (c === '"') return "&quot;";
    return `&#x${c.charCodeAt(0).toString(16).toUpperCase()};`;
  });
}
