// The shortest use of Store: one directory, one bucket, one object.
import { openStore } from "store-server";

const store = await openStore(".store");
const buckets = await store.listBuckets();
if (!buckets.some(({ name }) => name === "first-bucket")) await store.createBucket("first-bucket");
const bucket = store.bucket("first-bucket");
console.log("opened    .store");

const { key, size, etag } = await bucket.put("hello.txt", "Hello, world!", {
  httpMetadata: { contentType: "text/plain" },
});
console.log(`put       ${key}  ${size} bytes  etag ${etag}`);

const object = await bucket.get("hello.txt");
console.log(`got       ${await object.text()}`);

const { objects } = await bucket.list();
console.log(`listed    ${objects.map((listed) => listed.key).join(" ")}`);
await store.close();
