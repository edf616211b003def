// boto3: objects, multipart uploads and presigned URLs, with an access key, with temporary
// credentials, and with credentials of STS for an access key and for an ID token.
import assert from "node:assert/strict";
import { signToken, startFakeProvider } from "../../oidc/fake-provider.ts";
import { writeFiles } from "../files.ts";
import { assertDone, everydayJobs, temporaryCredentials } from "../scene.ts";

/** Uses credentials that may read and write below photos/in/. */
const program = `
import json, os, sys, urllib.request
import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

url, how = sys.argv[1], sys.argv[2]
def client(name, **keys):
    config = Config(signature_version="s3v4" if name == "s3" else None, retries={"total_max_attempts": 1})
    return boto3.client(name, endpoint_url=url, region_name="us-east-1", config=config, **keys)

def keys(answer):
    given = answer["Credentials"]
    return dict(aws_access_key_id=given["AccessKeyId"], aws_secret_access_key=given["SecretAccessKey"],
                aws_session_token=given["SessionToken"])

arn = "arn:aws:iam::000000000000:role/deploy"
if how == "role":
    s3 = client("s3", **keys(client("sts").assume_role(RoleArn=arn, RoleSessionName="boto3", DurationSeconds=900)))
elif how == "web identity":
    token = open("token.txt").read()
    anonymous = boto3.client("sts", endpoint_url=url, region_name="us-east-1", aws_access_key_id="none",
                             aws_secret_access_key="none")
    s3 = client("s3", **keys(anonymous.assume_role_with_web_identity(
        RoleArn=arn, RoleSessionName="boto3", WebIdentityToken=token)))
elif how == "session token":
    s3 = client("s3", **keys(client("sts").get_session_token()))
else:
    s3 = client("s3")

s3.put_object(Bucket="photos", Key="in/small", Body=b"small")
assert s3.get_object(Bucket="photos", Key="in/small")["Body"].read() == b"small"
parts = TransferConfig(multipart_threshold=5 << 20, multipart_chunksize=5 << 20)
s3.upload_file("big.bin", "photos", "in/big", Config=parts)
s3.download_file("photos", "in/big", "big.back")
assert open("big.bin", "rb").read() == open("big.back", "rb").read()
link = s3.generate_presigned_url("get_object", Params=dict(Bucket="photos", Key="in/small"), ExpiresIn=60)
assert urllib.request.urlopen(link).read() == b"small"
if how != "access key" and how != "session token":
    for call in (lambda: s3.get_object(Bucket="photos", Key="out/a"), lambda: s3.list_objects_v2(Bucket="photos")):
        try:
            call()
            sys.exit("allowed")
        except ClientError as error:
            assert error.response["Error"]["Code"] == "AccessDenied", error
print("done")
`;

everydayJobs(
  "boto3",
  async ({ key }, directory) => {
    await writeFiles(directory, { "program.py": program, "big.bin": "0123456789".repeat(1_200_000) });
    return {
      environment: {
        AWS_ACCESS_KEY_ID: key.accessKeyId,
        AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
        AWS_EC2_METADATA_DISABLED: "true",
      },
      args: ["program.py"],
    };
  },
  async (t, { run, call, path, s3 }) => {
    await s3.scene.shell.store("bucket", "create", "photos", "--data", s3.data);
    const provider = await startFakeProvider(t);
    const trust = ["--trust-account", "default", "--trust-oidc", provider.issuer, "--audience", "store"];
    const role = ["--grant", "photos/in/*:read,write", ...trust];
    await s3.scene.shell.store("role", "create", "deploy", ...role, "--data", s3.data);

    for (const how of ["access key", "session token", "role", "web identity"]) {
      await t.test(`boto3 stores and reads objects with credentials of: ${how}`, async () => {
        const token = await signToken(provider, { claims: { aud: "store" } });
        await writeFiles(path(), { "token.txt": token });
        assert.equal(await run(s3.url, how), "done\n");
      });
    }

    await t.test("boto3 stores and reads objects with temporary credentials of store key temp", async () => {
      const given = await temporaryCredentials(s3, "photos/in/*:read,write");
      const environment = {
        AWS_ACCESS_KEY_ID: given.accessKeyId,
        AWS_SECRET_ACCESS_KEY: given.secretAccessKey,
        AWS_SESSION_TOKEN: given.sessionToken!,
      };
      assertDone(await call([s3.url, "temporary credentials"], { environment }), "boto3");
    });
  },
);
