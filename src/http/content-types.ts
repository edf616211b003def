// Content types by file name extension, for uploads and static assets.

const extensionsByType = `
  application/atom+xml: atom
  application/dash+xml: mpd
  application/epub+zip: epub
  application/geo+json: geojson
  application/gzip: gz tgz
  application/json: json map
  application/jsonl: jsonl
  application/ld+json: jsonld
  application/manifest+json: webmanifest
  application/node: cjs
  application/pdf: pdf
  application/rss+xml: rss
  application/rtf: rtf
  application/toml: toml
  application/vnd.apache.parquet: parquet
  application/vnd.apple.mpegurl: m3u8
  application/vnd.ms-fontobject: eot
  application/vnd.oasis.opendocument.text: odt
  application/vnd.openxmlformats-officedocument.presentationml.presentation: pptx
  application/vnd.openxmlformats-officedocument.spreadsheetml.sheet: xlsx
  application/vnd.openxmlformats-officedocument.wordprocessingml.document: docx
  application/wasm: wasm
  application/x-7z-compressed: 7z
  application/x-bzip2: bz2
  application/x-tar: tar
  application/x-xz: xz
  application/xhtml+xml: xhtml
  application/xml: xml xsl
  application/yaml: yaml yml
  application/zip: zip
  application/zstd: zst
  audio/aac: aac
  audio/flac: flac
  audio/mp4: m4a
  audio/mpeg: mp3
  audio/ogg: oga ogg opus
  audio/wav: wav
  font/otf: otf
  font/ttf: ttf
  font/woff: woff
  font/woff2: woff2
  image/apng: apng
  image/avif: avif
  image/bmp: bmp
  image/gif: gif
  image/heic: heic
  image/jpeg: jpeg jpg
  image/jxl: jxl
  image/png: png
  image/svg+xml: svg
  image/tiff: tif tiff
  image/webp: webp
  image/x-icon: ico
  model/gltf+json: gltf
  model/gltf-binary: glb
  text/calendar: ics
  text/css: css
  text/csv: csv
  text/html: htm html
  text/javascript: js mjs
  text/markdown: markdown md
  text/plain: txt
  text/tab-separated-values: tsv
  text/vtt: vtt
  video/mp4: mp4
  video/ogg: ogv
  video/quicktime: mov
  video/webm: webm
  video/x-m4v: m4v
`;

const types = new Map(
  Array.from(extensionsByType.matchAll(/(\S+): (.+)/g), ([, type = "", extensions = ""]) => {
    const contentType = type.startsWith("text/") ? `${type}; charset=utf-8` : type;
    return extensions.split(" ").map((extension) => [extension, contentType] as const);
  }).flat(),
);

/** Returns the content type of the first name with a known extension. */
export function guessContentType(...names: readonly string[]): string | undefined {
  for (const name of names) {
    const extension = /[^/]\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase();
    const type = extension === undefined ? undefined : types.get(extension);
    if (type !== undefined) return type;
  }
  return undefined;
}
