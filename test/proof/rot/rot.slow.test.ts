// The share of the proof of bit rot that every test run makes.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { rot } from "./rot.ts";

test("flipped bits are told, wherever they are", (t) => runQuickShare(t, rot, 400));
