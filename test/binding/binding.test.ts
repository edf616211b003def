// Runs the contract suites of docs/binding.md on every implementation.
import { reasonTableContract } from "../contracts/binding/errors/reason-table.ts";
import { seekingContract } from "../contracts/binding/list-delimiter.ts";
import { objectSizeContract } from "../contracts/binding/object-size.ts";
import { bindingContract } from "../contracts/binding.ts";
import { implementations } from "../support/stores.ts";

reasonTableContract();
seekingContract();
objectSizeContract();

for (const implementation of implementations) bindingContract(implementation);
