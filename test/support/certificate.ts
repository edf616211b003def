// Creates self-signed certificates for localhost with any validity dates, without an external tool.
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { PairText } from "../../src/http/tls/certificate.ts";

export interface CertificateOptions {
  readonly name?: string;
  /** Milliseconds since the epoch. */
  readonly from?: number;
  readonly until?: number;
}

const day = 86_400_000;

export function makeCertificate(options: CertificateOptions = {}): PairText {
  const { name = "localhost", from = Date.now() - day, until = Date.now() + 30 * day } = options;
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const who = sequence(tagged(0x31, sequence(oid("550403"), tagged(0x0c, Buffer.from(name)))));
  const algorithm = sequence(oid("2a8648ce3d040302"));
  const alternatives = sequence(tagged(0x82, Buffer.from(name)), tagged(0x87, Buffer.from([127, 0, 0, 1])));
  const facts = sequence(
    tagged(0xa0, number(Buffer.from([2]))),
    // The leading 1 keeps the serial number positive for any random bytes.
    number(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ...[algorithm, who, sequence(time(from), time(until)), who],
    publicKey.export({ type: "spki", format: "der" }),
    tagged(
      0xa3,
      sequence(
        sequence(oid("551d11"), tagged(4, alternatives)),
        sequence(
          oid("551d13"),
          tagged(1, Buffer.from([255])),
          tagged(4, sequence(tagged(1, Buffer.from([255])))),
        ),
      ),
    ),
  );
  const signature = sign("sha256", facts, privateKey);
  const whole = sequence(facts, algorithm, tagged(3, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString("base64").replaceAll(/.{64}/g, "$&\n");
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function tagged(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Uint8Array[]) => tagged(0x30, ...parts);
const oid = (hex: string) => tagged(6, Buffer.from(hex, "hex"));
const number = (bytes: Uint8Array) => tagged(2, bytes);

function time(milliseconds: number): Buffer {
  const text = new Date(milliseconds).toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  return tagged(0x18, Buffer.from(text));
}
