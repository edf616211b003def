// Files of a new project: a script that serves one bucket over HTTP, and its configuration.

export interface Project {
  /** The script's name. */
  readonly name: string;
  readonly bucket: string;
  /** `YYYY-MM-DD` */
  readonly compatibilityDate: string;
  /** Version or path of this package in the new package.json. */
  readonly dependency: string;
}

/** Returns the contents of the files by path, relative to the project's folder. */
export function projectFiles(project: Project): Readonly<Record<string, string>> {
  return {
    "store.toml": config(project),
    "src/index.ts": script,
    "README.md": readme(project),
    "package.json": packageFile(project),
    "tsconfig.json": tsconfig,
    ".gitignore": "node_modules/\n.store/\n",
  };
}

const config = ({ name, bucket, compatibilityDate }: Project) => `# The script and its bindings.
name = "${name}"
main = "src/index.ts"
compatibility_date = "${compatibilityDate}"

[[store_buckets]]
binding = "BUCKET" # env.BUCKET in the script
bucket_name = "${bucket}"

# [vars]
# GREETING = "hello" # env.GREETING
`;

const script = `import type { StoreNotification } from "store-server";

// Serves a bucket over HTTP: the key is the path without its leading slash.
// Anyone who can reach this script can read, write and delete. Add authentication before you publish it.
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const key = new URL(request.url).pathname.slice(1);

    switch (request.method) {
      case "PUT":
        await env.BUCKET.put(key, request.body);
        return new Response(\`Put \${key} successfully!\`);

      case "GET": {
        const object = await env.BUCKET.get(key);
        if (object === null) return new Response("Object Not Found", { status: 404 });
        const headers = new Headers();
        object.writeHttpMetadata(headers);
        headers.set("etag", object.httpEtag);
        return new Response(object.body, { headers });
      }

      case "DELETE":
        await env.BUCKET.delete(key);
        return new Response("Deleted!");

      default:
        return new Response("Method Not Allowed", {
          status: 405,
          headers: { Allow: "PUT, GET, DELETE" },
        });
    }
  },

  // Called for events of a bucket, after: store bucket notify add BUCKET --script NAME
  async notification(event: StoreNotification): Promise<void> {
    console.log(event.name, event.bucket, event.key);
  },
};
`;

const readme = ({ name, bucket }: Project) => `# ${name}

A script that serves the bucket \`${bucket}\` over HTTP.

    npm install
    npm run dev -- --create-buckets

Then, in another terminal:

    curl -X PUT --data-binary "Hello, world!" http://127.0.0.1:8787/hello.txt
    curl http://127.0.0.1:8787/hello.txt
    curl -X DELETE http://127.0.0.1:8787/hello.txt

- \`store.toml\` names the script and binds the bucket: \`env.BUCKET\` in \`src/index.ts\`.
- \`.store/\` is the data directory: buckets, the script's secrets, and the key that encrypts them.
- \`npm run types\` updates \`store-env.d.ts\` after you change \`store.toml\`.
- \`npx store-server --help\` lists all commands.
`;

const packageFile = ({ name, dependency }: Project) =>
  `${JSON.stringify(
    {
      name,
      private: true,
      type: "module",
      scripts: { dev: "store dev", types: "store types" },
      devDependencies: { "store-server": dependency },
    },
    undefined,
    2,
  )}\n`;

const tsconfig = `{
  "compilerOptions": {
    "target": "es2023",
    "lib": ["es2023", "webworker"],
    "module": "esnext",
    "moduleResolution": "bundler",
    "types": [],
    "strict": true,
    "skipLibCheck": true,
    "noEmit": true
  },
  "include": ["src", "store-env.d.ts"]
}
`;
