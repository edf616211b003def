// HTML's rules for elements: void elements, text-only elements, implied end tags, and where SVG and
// MathML content starts and ends.

export type Namespace = "html" | "svg" | "math";

export const namespaceUris: Readonly<Record<Namespace, string>> = {
  html: "http://www.w3.org/1999/xhtml",
  svg: "http://www.w3.org/2000/svg",
  math: "http://www.w3.org/1998/Math/MathML",
};

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

export const voidElements = words(
  "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr",
);

/** Elements that contain only text, up to the end tag. */
export const textElements = words(
  "iframe noembed noframes noscript plaintext script style textarea title xmp",
);

interface Ending {
  /** Open elements that end where the new element begins. */
  readonly ends: readonly string[];
  /** Ancestors at which the search for implied ends stops. */
  readonly within: ReadonlySet<string>;
}

const tables = words("table template html");
const cells = ["td", "th"];
const rows = ["tr", ...cells];
const sections = ["thead", "tbody", "tfoot", "caption", "colgroup", ...rows];
const lists = words(
  `ul ol menu dl table caption td th template html body applet article aside blockquote button center details dir
   fieldset figcaption figure footer form header hgroup main marquee nav object section select summary`,
);
const paragraphScope = words("applet button caption html marquee object table td template th");

export const endings = new Map<string, Ending>([
  ["li", { ends: ["li"], within: lists }],
  ["dt", { ends: ["dt", "dd"], within: lists }],
  ["dd", { ends: ["dt", "dd"], within: lists }],
  ["option", { ends: ["option"], within: words("select datalist optgroup template html") }],
  ["optgroup", { ends: ["option", "optgroup"], within: words("select template html") }],
  ["rt", { ends: ["rt", "rp"], within: words("ruby template html") }],
  ["rp", { ends: ["rt", "rp"], within: words("ruby template html") }],
  ["td", { ends: cells, within: words("tr table template html") }],
  ["th", { ends: cells, within: words("tr table template html") }],
  ["tr", { ends: rows, within: tables }],
  ["tbody", { ends: sections, within: tables }],
  ["thead", { ends: sections, within: tables }],
  ["tfoot", { ends: sections, within: tables }],
  ["body", { ends: ["head"], within: words("html") }],
]);

const paragraphEnders = words(
  `address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form
   h1 h2 h3 h4 h5 h6 header hgroup hr listing main menu nav ol p plaintext pre search section summary table ul xmp`,
);
for (const name of paragraphEnders) endings.set(name, { ends: ["p"], within: paragraphScope });

/** HTML elements that end an open SVG or MathML element. */
export const breakoutElements = words(
  `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta
   nobr ol p pre ruby s small span strong strike sub sup table tt u ul var`,
);

const integrationPoints: Readonly<Record<Namespace, ReadonlySet<string>>> = {
  html: new Set(),
  svg: words("desc title foreignobject"),
  math: words("mi mo mn ms mtext annotation-xml"),
};

/** The namespace of elements inside this element. */
export function contentNamespace(namespace: Namespace, name: string): Namespace {
  return integrationPoints[namespace].has(name) ? "html" : namespace;
}
