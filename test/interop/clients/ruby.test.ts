// Ruby: the AWS SDK, which uploads forms and streams, and fog, which sends canned ACLs.
import { randomBytes } from "node:crypto";
import { MiB, writeFiles } from "../files.ts";
import { assertDone, everydayJobs } from "../scene.ts";

const program = `
require "aws-sdk-s3"
require "fog/aws"
require "net/http"

url, key, secret, part = ARGV
big = File.binread("big.bin")

def same(actual, expected)
  actual, expected = [actual, expected].map { |value| value.is_a?(String) ? value.b : value }
  raise "#{actual.inspect[0, 200]} instead of #{expected.inspect[0, 200]}" unless actual == expected
end

def sdk(url, key, secret, big)
  s3 = Aws::S3::Resource.new(endpoint: url, region: "us-east-1", force_path_style: true,
                             access_key_id: key, secret_access_key: secret)
  bucket = s3.create_bucket(bucket: "ruby")
  bucket.object("a/ä + b").put(body: "small", metadata: { "who" => "ruby" }, acl: "public-read")
  same(bucket.object("a/ä + b").get.body.read, "small")
  same(bucket.object("a/ä + b").metadata, { "who" => "ruby" })
  bucket.object("big").upload_file("big.bin", multipart_threshold: 5 << 20)
  bucket.object("big").download_file("big.back")
  same(File.binread("big.back"), big)
  bucket.object("copied").copy_from(bucket.object("big"), multipart_copy: true)
  same(bucket.object("copied").get(range: "bytes=0-9").body.read, big[0, 10])
  same(Net::HTTP.get(URI(bucket.object("copied").presigned_url(:get, expires_in: 60))), big)
  form = bucket.presigned_post(key: "form", success_action_status: "201", content_length_range: 1..100)
  fields = form.fields.map { |name, value| [name, value] } + [["file", "posted", { filename: "f.txt" }]]
  request = Net::HTTP::Post.new(URI(form.url))
  request.set_form(fields, "multipart/form-data")
  answer = Net::HTTP.start(URI(url).host, URI(url).port) { |http| http.request(request) }
  same([answer.code, bucket.object("form").get.body.read], ["201", "posted"])
  bucket.object("streamed").upload_stream(part_size: 5 << 20) { |stream| stream.binmode; stream << big }
  same(bucket.object("streamed").get.body.read, big)
  12.times { |i| bucket.object("many/#{i}").put(body: "x") }
  pages = s3.client.list_objects_v2(bucket: "ruby", prefix: "many/", max_keys: 5)
  same(pages.sum { |page| page.contents.size }, 12)
  folders = s3.client.list_objects_v2(bucket: "ruby", delimiter: "/").common_prefixes
  same(folders.map(&:prefix), ["a/", "many/"])
  begin
    bucket.object("none").get
    raise "found"
  rescue Aws::S3::Errors::NoSuchKey
  end
  bucket.object("big").wait_until_exists
  bucket.clear!
  bucket.delete
  same(bucket.exists?, false)
end

def fog(url, key, secret, big)
  place = URI(url)
  storage = Fog::Storage.new(provider: "AWS", aws_access_key_id: key, aws_secret_access_key: secret,
                             host: place.host, port: place.port, scheme: "http",
                             path_style: true, region: "us-east-1")
  folder = storage.directories.create(key: "fog", public: true)
  metadata = { "x-amz-meta-who" => "fog" }
  file = folder.files.create(key: "a/ä + b.txt", body: "small", public: true, metadata: metadata)
  same(folder.files.get(file.key).body, "small")
  same(folder.files.head(file.key).metadata["x-amz-meta-who"], "fog")
  File.open("big.bin", "rb") do |body|
    folder.files.create(key: "big", body: body, multipart_chunk_size: 5 << 20)
  end
  received = String.new(encoding: Encoding::BINARY)
  folder.files.get("big") { |chunk, _remaining, _total| received << chunk }
  same(received, big)
  same(Net::HTTP.get(URI(folder.files.head("big").url(Time.now + 60))), big)
  folder.files.head("big").copy("fog", "copied")
  same(folder.files.map(&:key).sort, ["a/ä + b.txt", "big", "copied"])
  same(folder.files.all(delimiter: "/").common_prefixes, ["a/"])
  same(folder.files.get("none"), nil)
  storage.put_bucket_versioning("fog", "Enabled")
  folder.files.create(key: "copied", body: "newer")
  same(folder.files.get("copied").versions.size, 2)
  folder.versions.each { |version| storage.delete_object("fog", version.key, "versionId" => version.version) }
  same(folder.destroy, true)
end

part == "sdk" ? sdk(url, key, secret, big) : fog(url, key, secret, big)
puts "done"
`;

everydayJobs(
  "ruby",
  async (_s3, directory) => {
    await writeFiles(directory, { "program.rb": program, "big.bin": randomBytes(12 * MiB) });
    return { args: ["program.rb"] };
  },
  async (t, { call, s3: { url, key } }) => {
    for (const [part, title] of [
      ["sdk", "the AWS SDK for Ruby stores, streams, copies and lists objects and posts forms"],
      ["fog", "fog stores, copies and lists objects with public ACLs and deletes versions"],
    ] as const) {
      await t.test(title, async () => {
        assertDone(await call([url, key.accessKeyId, key.secretAccessKey, part]), part);
      });
    }
  },
);
