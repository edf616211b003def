// Wire proof: sends mutated requests over real connections: pipelined, cut, ended early or silent.
// The server answers valid HTTP or closes; its processes survive and its memory stays bounded.
import { createRandom, type Random } from "../../support/random.ts";
import { createMutator } from "../fuzz/mutate.ts";
import type { Budget, Figures, Proof } from "../proof.ts";
import { converse } from "./conversation.ts";
import { spoilInFrame } from "./frame.ts";
import { readResponses } from "./responses.ts";
import { wireTokens } from "./samples.ts";
import { type Listener, openWireScene, type WireScene } from "./scene.ts";

/** Concurrent connections, and conversations between two checks of the server. */
const crowd = 48;
const conversationsALook = 240;
/** Memory growth allowed for all processes together, from warm-up to the end. */
const mostGrowth = 256 * 1024 * 1024;
const warmRequests = 2000;

interface Counts {
  requests: number;
  conversations: number;
  answers: number;
  silent: number;
  "checks with a good request": number;
}

export const wire: Proof = {
  name: "wire",
  unit: "requests",
  bar: 100_000,
  async run(budget) {
    const scene = await openWireScene();
    try {
      return await talk(scene, budget);
    } finally {
      await scene.close();
    }
  },
};

async function talk(scene: WireScene, budget: Budget): Promise<Figures> {
  const random = createRandom(budget.seed);
  const counts: Counts = {
    requests: 0,
    conversations: 0,
    answers: 0,
    silent: 0,
    "checks with a good request": 0,
  };
  let warm: number | undefined;
  let told = Date.now();
  while (budget.more(counts.requests)) {
    const texts = new Map(
      [...scene.listeners, scene.impatient].map((one) => [one, createTexts(one, random)]),
    );
    let left = conversationsALook;
    const client = async () => {
      while (left-- > 0) await oneConversation(scene, texts, random, counts);
    };
    await Promise.all(Array.from({ length: crowd }, client));
    for (const listener of [...scene.listeners, scene.impatient]) {
      await listener.checkGood();
      counts["checks with a good request"]++;
    }
    scene.checkProcesses();
    if (counts.requests >= warmRequests) warm ??= scene.memory();
    if (Date.now() - told > 5000) {
      told = Date.now();
      budget.say(
        `${counts.requests} requests in ${counts.conversations} conversations, ${counts.answers} answers`,
      );
    }
  }
  const growth = warm === undefined ? 0 : scene.memory() - warm;
  if (growth > mostGrowth) throw new Error(`The servers gained ${Math.round(growth / 2 ** 20)} MiB.`);
  return {
    ...counts,
    "scripts taken for blocked": scene.blockedScripts(),
    "growth in MiB": Math.max(0, Math.round(growth / 2 ** 20)),
  };
}

/** Returns the next text to send and the number of requests in it. */
type Texts = () => { readonly text: string; readonly requests: number };

function createTexts(listener: Listener, random: Random): Texts {
  const samples = listener.samples();
  const mutate = createMutator(
    { name: listener.name, form: "bytes", samples, tokens: wireTokens, longest: 80_000, open: () => never() },
    random,
  );
  const spoil = (text: string) => mutate([text]);
  const one = () => {
    const sample = random.pick(samples);
    const kind = random.below(5);
    // Some requests are valid: a request after an invalid one must not be parsed as a part of it.
    if (kind === 0) return sample;
    return kind < 3 ? spoilInFrame(sample, random, spoil) : mutate(samples);
  };
  return () => {
    const requests = 1 + random.below(4);
    return { text: Array.from({ length: requests }, one).join(""), requests };
  };
}

function never(): never {
  throw new Error("This target is only used for mutations.");
}

async function oneConversation(
  { listeners, impatient }: WireScene,
  texts: ReadonlyMap<Listener, Texts>,
  random: Random,
  counts: Counts,
): Promise<void> {
  const fallsSilent = random.below(40) === 0;
  const listener = fallsSilent ? impatient : random.pick(listeners);
  const { text: whole, requests } = texts.get(listener)!();
  const text = fallsSilent ? whole.slice(0, random.below(whole.length + 1)) : whole;
  try {
    const said = await converse({ port: listener.port, text, random, fallsSilent });
    // An echo is sent while its request arrives, and breaks off with it.
    const mayBreakOff = said.wasLeft || text.includes("/echo");
    counts.answers += readResponses(said.text, mayBreakOff).length;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${listener.name}: ${why}\nSent: ${JSON.stringify(text).slice(0, 6000)}`, {
      cause: error,
    });
  }
  counts.requests += requests;
  counts.conversations++;
  if (fallsSilent) counts.silent++;
}
