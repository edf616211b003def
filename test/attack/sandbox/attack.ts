// One attack of a hostile script in the sandbox.

export interface Attack {
  /** What the script does, to complete "a script that …". */
  readonly name: string;
  /** Body of an async function of `request`, `env` and `ctx`; `facts` has paths and ports. */
  readonly code: string;
  /**
   * - "refused": the code throws.
   * - a pattern: the response matches.
   * - "contained": any response or none. The script must answer again afterwards.
   */
  readonly expects: "refused" | "contained" | RegExp;
  /** The script stays damaged by its own act, so that it need not answer again. */
  readonly damagesItself?: true;
  /** The client leaves after this time, for responses that never end. */
  readonly patience?: number;
}

/** What attackers know: real paths and ports, so that an attack that is not contained succeeds. */
export interface Facts {
  /** The data directory. */
  readonly data: string;
  /** Folder of the hostile script. */
  readonly folder: string;
  /** Port on loopback whose server counts requests. */
  readonly target: number;
  /** Port on loopback that `outbound` may name; its server redirects to `?to=URL`. */
  readonly redirector: number;
  /** Port on which nothing listens. */
  readonly free: number;
  /** Process id of a process outside the sandbox. */
  readonly pid: number;
}

/** Returns a script with one path for each attack; other paths answer "done". */
export function hostileScript(attacks: readonly Attack[], facts: Facts): string {
  const entries = attacks.map(
    ({ code }, index) => `${JSON.stringify(`/attack/${index}`)}: async (request, env, ctx) => {\n${code}\n},`,
  );
  return `
const facts = ${JSON.stringify(facts)};
const hoard = [];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const attacks = {
${entries.join("\n")}
};
export default {
  async fetch(request, env, ctx) {
    const attack = attacks[new URL(request.url).pathname];
    if (attack === undefined) return new Response("done");
    try {
      const answer = await attack(request, env, ctx);
      if (answer instanceof Response) return answer;
      return new Response("reached: " + (typeof answer === "string" ? answer : JSON.stringify(answer)));
    } catch (error) {
      return new Response("refused: " + error);
    }
  },
  async scheduled() {},
  async notification() {},
};`;
}
