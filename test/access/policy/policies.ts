// Builds policies for tests.

/** A statement that lets everyone read the objects of the bucket `photos`, with changed fields. */
export function statement(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    Effect: "Allow",
    Principal: "*",
    Action: "s3:GetObject",
    Resource: "arn:aws:s3:::photos/*",
    ...fields,
  };
}

export function toText(...statements: readonly unknown[]): string {
  return JSON.stringify({ Version: "2012-10-17", Statement: statements });
}
