// Memory for documents that are read whole: XML bodies and the fields of forms. Their sum is bounded per process;
// beyond it a request is refused with SlowDown, so that many large documents cannot exhaust the memory.
import { S3Error } from "../errors.ts";

/** What one request holds. Released once, when its answer is decided. */
export interface BudgetShare {
  /** Sets how many bytes the request holds now; throws SlowDown when that is more than is left. */
  hold(bytes: number): void;
  release(): void;
}

export interface DocumentBudget {
  /** For a document of an authenticated caller, or for a form, whose fields are read before its signature. */
  open(kind: "document" | "form"): BudgetShare;
  /** Bytes that are held now. */
  held(): number;
}

export const defaultDocumentBytes = 64 * 1024 * 1024;
/** Forms come from anyone: they may take a quarter, and never what is left for documents. */
const formShare = 0.25;

export function createDocumentBudget(bytes: number = defaultDocumentBytes): DocumentBudget {
  const limits = { document: bytes, form: bytes * formShare };
  const held = { document: 0, form: 0 };
  return {
    open(kind) {
      let own = 0;
      return {
        hold(wanted) {
          const total = kind === "form" ? held.form : held.document + held.form;
          if (wanted > own && total - own + wanted > limits[kind]) throw tooManyDocuments();
          held[kind] += wanted - own;
          own = wanted;
        },
        release() {
          held[kind] -= own;
          own = 0;
        },
      };
    },
    held: () => held.document + held.form,
  };
}

function tooManyDocuments(): S3Error {
  return new S3Error("SlowDown", {
    message: "Too many large documents are being processed. Please try again in a moment.",
  });
}
