// Runs every command in docs/how-to/back-up-to-s3.md, with Store's own S3 API as the other service.
import { test } from "node:test";
import { startS3Service } from "../support/s3-service.ts";
import { playPage } from "./page/terminal-page.ts";

test("every command in docs/how-to/back-up-to-s3.md prints the output shown", async (t) => {
  const { shelfUrl, bucket } = await startS3Service(t);
  const { username, password, host } = new URL(shelfUrl());
  await playPage(t, "how-to/back-up-to-s3.md", {
    environment: {
      AWS_ACCESS_KEY_ID: decodeURIComponent(username),
      AWS_SECRET_ACCESS_KEY: decodeURIComponent(password),
    },
    replace: (text) => text.replaceAll("s3.example.com/backups/", `${host}/${bucket}/`),
  });
});
