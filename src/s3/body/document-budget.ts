// Memory for documents that are read whole: XML bodies and the fields of forms. Their sum is bounded per process;
// beyond it a request is refused with SlowDown, so that many large documents cannot exhaust the memory.
import { S3Error } from "../errors.ts";

/** What one request holds. Released once, when its answer is decided. */
export interface BudgetShare {
  /** Sets how many bytes the request holds now; throws SlowDown when that is more than is left. */
  resize(bytes: number): void;
  release(): void;
}

export interface DocumentBudget {
  /** For a document of an authenticated caller, or for a form, whose fields are read before its signature. */
  open(kind: "document" | "form"): BudgetShare;
  /** Bytes that are held now. */
  usedBytes(): number;
}

export const defaultDocumentBytes = 64 * 1024 * 1024;
/** Forms come from anyone: they may take a quarter, and never what is left for documents. */
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
