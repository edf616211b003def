// Multipart uploads through a script: large files go up in parts, in any order, from anywhere.
//
//   POST   /key?action=create                          -> {"key", "uploadId"}
//   PUT    /key?action=part&uploadId=…&partNumber=1    -> {"partNumber", "etag"}
//   POST   /key?action=complete&uploadId=…             with the parts as JSON -> the object
//   DELETE /key?uploadId=…                             aborts
//   GET    /key                                        the object
import type { StoreBucket, StoreUploadedPart } from "store-server";

interface Env {
  BUCKET: StoreBucket;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const url = new URL(request.url);
    const key = url.pathname.slice(1);
    const uploadId = url.searchParams.get("uploadId") ?? "";
    const action = `${request.method} ${url.searchParams.get("action") ?? ""}`.trim();

    try {
      switch (action) {
        case "POST create": {
          const upload = await env.BUCKET.createMultipartUpload(key);
          return Response.json({ key: upload.key, uploadId: upload.uploadId });
        }
        case "PUT part": {
          if (request.body === null) return new Response("A part needs a body.", { status: 400 });
          const upload = env.BUCKET.resumeMultipartUpload(key, uploadId);
          return Response.json(
            await upload.uploadPart(Number(url.searchParams.get("partNumber")), request.body),
          );
        }
        case "POST complete": {
          const upload = env.BUCKET.resumeMultipartUpload(key, uploadId);
          const object = await upload.complete((await request.json()) as StoreUploadedPart[]);
          return Response.json(object, { headers: { etag: object.httpEtag } });
        }
        case "DELETE": {
          await env.BUCKET.resumeMultipartUpload(key, uploadId).abort();
          return new Response(null, { status: 204 });
        }
        case "GET": {
          const object = await env.BUCKET.get(key);
          return object === null
            ? new Response("Object Not Found", { status: 404 })
            : new Response(object.body);
        }
        default:
          return new Response("Bad Request", { status: 400 });
      }
    } catch (error) {
      // Wrong parts, numbers and JSON are the caller's; a fault of the store is not.
      const isOurs = (error as { code?: number }).code === 10001;
      return new Response((error as Error).message, { status: isOurs ? 500 : 400 });
    }
  },
};
