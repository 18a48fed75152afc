import { sha256 } from '../digest.ts';
import { canonicalJson } from './canonical-json.ts';

/** The texts of an MCP server that a model can see. */
export interface Catalogue {
  /** Empty: none. */
  title: string;
  /** Empty: none. */
  instructions: string;
  /** In the order of their names, which are unique. */
  tools: CatalogueTool[];
}

export interface CatalogueTool {
  name: string;
  /** Empty: none. */
  title: string;
  description: string;
  /** A JSON Schema, unchecked. */
  input_schema: JsonObject;
  /** Null: none. */
  output_schema: JsonObject | null;
  annotations: JsonObject;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** The canonical text of a catalogue and its SHA-256 in lowercase hexadecimal. */
export interface CatalogueText {
  json: string;
  sha256: string;
}

/** Returns the canonical text of a catalogue. Throws as `canonicalJson` does. */
export function catalogueText({ title, instructions, tools }: Catalogue): CatalogueText {
  const sorted = tools.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const json = canonicalJson({ title, instructions, tools: sorted });
  return { json, sha256: sha256(json) };
}

/** Reads the canonical text of a catalogue. Throws a TypeError for another text. */
export function readCatalogue(json: string): Catalogue {
  const value: unknown = JSON.parse(json);
  if (!isCatalogue(value)) throw new TypeError('The text is not a catalogue.');
  const names = new Set(value.tools.map(({ name }) => name));
  if (names.size < value.tools.length || catalogueText(value).json !== json)
    throw new TypeError('The text is not in its canonical form.');
  return value;
}

function isCatalogue(value: unknown): value is Catalogue {
  if (!isJsonObject(value)) return false;
  const { title, instructions, tools } = value;
  const areTexts = typeof title === 'string' && typeof instructions === 'string';
  return areTexts && Array.isArray(tools) && tools.every(isTool);
}

function isTool(value: unknown): value is CatalogueTool {
  if (!isJsonObject(value)) return false;
  const { name, title, description, input_schema: input, output_schema: output, annotations } = value;
  return (
    [name, title, description].every((text) => typeof text === 'string') &&
    isJsonObject(input) &&
    (output === null || isJsonObject(output)) &&
    isJsonObject(annotations)
  );
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
