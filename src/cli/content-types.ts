// The content type a name stands for: a small table of what people keep and browsers show.

const text = "; charset=utf-8";

const types: Readonly<Record<string, string>> = {
  "7z": "application/x-7z-compressed",
  aac: "audio/aac",
  avif: "image/avif",
  bmp: "image/bmp",
  bz2: "application/x-bzip2",
  css: `text/css${text}`,
  csv: `text/csv${text}`,
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  epub: "application/epub+zip",
  flac: "audio/flac",
  gif: "image/gif",
  gz: "application/gzip",
  htm: `text/html${text}`,
  html: `text/html${text}`,
  ico: "image/x-icon",
  ics: `text/calendar${text}`,
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: `text/javascript${text}`,
  json: "application/json",
  jsonl: "application/jsonl",
  m4a: "audio/mp4",
  map: "application/json",
  md: `text/markdown${text}`,
  mjs: `text/javascript${text}`,
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  odt: "application/vnd.oasis.opendocument.text",
  ogg: "audio/ogg",
  otf: "font/otf",
  parquet: "application/vnd.apache.parquet",
  pdf: "application/pdf",
  png: "image/png",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  svg: "image/svg+xml",
  tar: "application/x-tar",
  tgz: "application/gzip",
  tif: "image/tiff",
  tiff: "image/tiff",
  toml: "application/toml",
  tsv: `text/tab-separated-values${text}`,
  ttf: "font/ttf",
  txt: `text/plain${text}`,
  wasm: "application/wasm",
  wav: "audio/wav",
  webm: "video/webm",
  webmanifest: "application/manifest+json",
  webp: "image/webp",
  woff: "font/woff",
  woff2: "font/woff2",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  xml: "application/xml",
  xz: "application/x-xz",
  yaml: "application/yaml",
  yml: "application/yaml",
  zip: "application/zip",
  zst: "application/zstd",
};

/** Of the first name that tells: the key before the file it came from. */
export function contentTypeOf(...names: readonly string[]): string | undefined {
  for (const name of names) {
    const extension = /[^/]\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase();
    if (extension !== undefined && Object.hasOwn(types, extension)) return types[extension];
  }
  return undefined;
}
