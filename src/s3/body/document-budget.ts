// Limits the memory for XML bodies and form fields, which are read completely before use. A request
// that would exceed the budget of this process is refused with SlowDown.
import { S3Error } from "../errors.ts";

/** Memory reserved for one request; released when its response is ready. */
export interface BudgetShare {
  /** Sets the size of this share. Throws SlowDown if the budget does not allow it. */
  resize(bytes: number): void;
  release(): void;
}

export interface DocumentBudget {
  /** Opens an empty share. Form fields are read before authentication, documents after it. */
  open(kind: "document" | "form"): BudgetShare;
  /** Returns the bytes reserved by all requests. */
  usedBytes(): number;
}

export const defaultDocumentBytes = 64 * 1024 * 1024;
/** Maximum share of forms, because clients that send forms are not authenticated yet. */
const formShare = 0.25;

export function createDocumentBudget(bytes: number = defaultDocumentBytes): DocumentBudget {
  const limits = { document: bytes, form: bytes * formShare };
  const used = { document: 0, form: 0 };
  return {
    open(kind) {
      let reserved = 0;
      return {
        resize(requested) {
          const total = kind === "form" ? used.form : used.document + used.form;
          if (requested > reserved && total - reserved + requested > limits[kind]) throw tooManyDocuments();
          used[kind] += requested - reserved;
          reserved = requested;
        },
        release() {
          used[kind] -= reserved;
          reserved = 0;
        },
      };
    },
    usedBytes: () => used.document + used.form,
  };
}

function tooManyDocuments(): S3Error {
  return new S3Error("SlowDown", {
    message: "Too many large documents are being processed. Please try again in a moment.",
  });
}
