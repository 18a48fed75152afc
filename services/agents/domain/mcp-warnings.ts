import { pointerSegment } from '../../../lib/field-problems.ts';
import type { Catalogue, CatalogueTool } from '../../../lib/mcp-catalogue/catalogue.ts';
import { TOOLS } from '../../../lib/tools.ts';

/** A text of a catalogue that can mislead a model or a reviewer. */
export interface CatalogueWarning {
  /** Empty for the title and the instructions of the server. */
  tool: string;
  /** invisible_characters | control_characters | instructions | other_tool_name */
  kind: string;
  /** The text, as a JSON Pointer into the tool or the catalogue. */
  pointer: string;
}

/** Limits the answer for a catalogue in which every text is suspicious. */
const MAX_WARNINGS = 500;
/** Longer texts are scanned up to this number of characters. */
export const MAX_SCANNED = 16 * 1024;

/** Format characters (directional, zero-width and tag characters), and several variation selectors, which can carry data. */
const INVISIBLE = /\p{Cf}|\u034f|\p{Variation_Selector}{2}/u;
/** Control characters, which include the escape character of ANSI sequences, without tab and line ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finds them.
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** All repetitions are bounded, so that the time of a scan is proportional to the length of the text. */
export const INSTRUCTIONS: readonly RegExp[] = [
  /<\s{0,8}\/?\s{0,8}(system|assistant|user|human|developer|important|instructions?|admin|secret|tool_result)\b/i,
  /<\|[a-z_]{1,32}\|>|\[\/?(INST|SYSTEM)\]/i,
  /\b(ignore|disregard|forget|override)\s.{0,40}\b(instructions?|prompts?|rules|guidelines)\b/i,
  /\b(do not|don't|never)\s.{0,20}\b(tell|mention|inform|reveal|show)\b.{0,40}\buser\b/i,
];
/** A word that is unlikely to be anything but the name of a tool. */
const DISTINCTIVE = /[_\-./\d]|[a-z][A-Z]/;
const WORDS = /[`'"]?[A-Za-z0-9_\-./]+/g;

/** Finds texts that can mislead a model or a reviewer. A warning proves nothing, and neither does its absence. */
export function findWarnings(catalogue: Catalogue): CatalogueWarning[] {
  const names = new Set([...Object.keys(TOOLS), ...catalogue.tools.map(({ name }) => name)]);
  const warnings: CatalogueWarning[] = [];
  const { title, instructions } = catalogue;
  scan({ title, instructions }, '', warnings, { tool: '', names });
  for (const tool of catalogue.tools) scan(textsOf(tool), '', warnings, { tool: tool.name, names });
  return warnings.slice(0, MAX_WARNINGS);
}

interface ScanContext {
  tool: string;
  names: ReadonlySet<string>;
}

function scan(value: unknown, pointer: string, warnings: CatalogueWarning[], context: ScanContext): void {
  if (warnings.length >= MAX_WARNINGS) return;
  if (typeof value === 'string') {
    const kinds = kindsOf(value.slice(0, MAX_SCANNED), context, pointer);
    warnings.push(...kinds.map((kind) => ({ tool: context.tool, kind, pointer })));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const at = (pointer + pointerSegment(name)).slice(0, MAX_POINTER);
    if (!Array.isArray(value)) scanName(name, at, warnings, context);
    scan(member, at, warnings, context);
  }
}

const MAX_POINTER = 512;

/** The names of members in a schema are text for the model, too. */
function scanName(name: string, pointer: string, warnings: CatalogueWarning[], context: ScanContext): void {
  if (INVISIBLE.test(name)) warnings.push({ tool: context.tool, kind: 'invisible_characters', pointer });
  if (CONTROL.test(name)) warnings.push({ tool: context.tool, kind: 'control_characters', pointer });
  if (INSTRUCTIONS.some((expression) => expression.test(name.slice(0, MAX_SCANNED))))
    warnings.push({ tool: context.tool, kind: 'instructions', pointer });
}

function kindsOf(text: string, { tool, names }: ScanContext, pointer: string): string[] {
  const kinds: string[] = [];
  if (INVISIBLE.test(text)) kinds.push('invisible_characters');
  if (CONTROL.test(text)) kinds.push('control_characters');
  if (INSTRUCTIONS.some((expression) => expression.test(text))) kinds.push('instructions');
  if (pointer !== '/name' && namesOtherTool(text, tool, names)) kinds.push('other_tool_name');
  return kinds;
}

function namesOtherTool(text: string, tool: string, names: ReadonlySet<string>): boolean {
  for (const [word] of text.matchAll(WORDS)) {
    const name = word.replace(/^[`'"]/, '').replace(/\.$/, '');
    const isMarked = word !== name || DISTINCTIVE.test(name);
    if (isMarked && name !== tool && names.has(name)) return true;
  }
  return false;
}

function textsOf({ name, title, description, input_schema, output_schema, annotations }: CatalogueTool) {
  return { name, title, description, input_schema, output_schema, annotations };
}
