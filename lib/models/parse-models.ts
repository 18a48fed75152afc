import { isMap, isPair, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from 'yaml';
import { REHEARSAL_MODELS } from './built-in.ts';
import { hasImages, type ModelCapabilities, type ModelEntry } from './entry.ts';
import { createModelTable, mergeEntries } from './table.ts';

/** A problem of a file with models. `line` counts from 1; `field` is empty when it concerns the whole file. */
export interface ModelsFileProblem {
  line: number;
  field: string;
  message: string;
}

export interface ParsedModels {
  entries: ModelEntry[];
  problems: ModelsFileProblem[];
}

const MEMBERS = ['name', 'context_window', 'max_output', 'capabilities', 'media_types'];
const CAPABILITIES: Readonly<Record<string, keyof ModelCapabilities>> = {
  tools: 'tools',
  images: 'images',
  structured_output: 'structuredOutput',
  caching: 'caching',
};
const NAME = /^[a-z0-9-]+\/[!-~]{1,200}$/;
const MEDIA_TYPE = /^(\*|[a-z0-9.+-]+)\/(\*|[a-z0-9.+-]+)$/;
const MAX_TOKENS = 1_000_000_000;

type Node = ParsedNode | null | undefined;

/**
 * Parses the entries of a file with models, in YAML or JSON: a list of entries, or an object with that list as `models`. An
 * empty file has none. Returns the valid entries and all problems.
 */
export function parseModels(text: string): ParsedModels {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: 'core',
    version: '1.2',
    strict: true,
    uniqueKeys: true,
    lineCounter: lines,
    prettyErrors: false,
  });
  const problems: ModelsFileProblem[] = [];
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const report = (node: Node, field: string, message: string, otherwise?: Node) => {
    const line = lineAt((node ?? otherwise)?.range[0] ?? 0);
    problems.push({ line: Math.max(1, line), field, message });
  };
  // The others are often consequences of the first one.
  const [error] = [...document.errors, ...document.warnings];
  if (error) {
    const message = `is not valid YAML or JSON: ${error.message}`;
    return { entries: [], problems: [{ line: lineAt(error.pos[0]), field: '', message }] };
  }

  const list = listOf(document.contents, report);
  const entries: ModelEntry[] = [];
  for (const node of list) {
    const known = problems.length;
    const entry = parseEntry(node, report);
    if (!entry || problems.length > known) continue;
    if (entries.some(({ name }) => name === entry.name)) report(node, 'name', `names ${entry.name} twice`);
    else entries.push(entry);
  }
  return { entries, problems };
}

type Report = (node: Node, field: string, message: string, otherwise?: Node) => void;

function listOf(contents: Node, report: Report): ParsedNode[] {
  if (!contents) return [];
  const members = isMap(contents) ? membersOf(contents, ['models'], '', report) : undefined;
  const list = members ? members.get('models') : contents;
  if (isSeq(list)) return list.items;
  report(list, 'models', 'must be a list of models', contents);
  return [];
}

function parseEntry(node: ParsedNode, report: Report): ModelEntry | undefined {
  if (!isMap(node)) {
    report(node, 'models', 'must have entries with a name');
    return undefined;
  }
  const members = membersOf(node, MEMBERS, '', report);
  const name = nameOf(members.get('name'), node, report);
  const contextWindow = tokensOf(members, 'context_window', report);
  const maxOutput = tokensOf(members, 'max_output', report);
  const capabilities = capabilitiesOf(members.get('capabilities'), report);
  const mediaTypes = mediaTypesOf(members.get('media_types'), report);
  const { images } = capabilities;
  if (mediaTypes && images !== undefined && images !== hasImages(mediaTypes))
    report(members.get('media_types'), 'media_types', `contradicts images: ${images}`);
  if (name === undefined) return undefined;
  const entry = {
    name,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutput !== undefined && { maxOutput }),
    capabilities,
    ...(mediaTypes && { mediaTypes }),
  };
  const merged = mergeEntries(createModelTable().find(name), entry);
  if (merged.contextWindow !== undefined && (merged.maxOutput ?? 0) > merged.contextWindow)
    report(
      members.get('max_output') ?? members.get('context_window'),
      'max_output',
      `is ${merged.maxOutput} and must not exceed the context window of ${merged.contextWindow} tokens`,
    );
  return entry;
}

/** The members of a map by name. Reports those that `allowed` does not have. */
function membersOf(
  map: ParsedNode,
  allowed: readonly string[],
  prefix: string,
  report: Report,
): Map<string, ParsedNode | null> {
  const members = new Map<string, ParsedNode | null>();
  if (!isMap(map)) return members;
  for (const { key, value } of map.items.filter((pair) => isPair(pair))) {
    const name = isScalar(key) ? String(key.value) : '?';
    if (allowed.includes(name)) members.set(name, value);
    else report(key, prefix + name, `is not one of ${allowed.join(', ')}`);
  }
  return members;
}

function nameOf(node: Node, entry: ParsedNode, report: Report): string | undefined {
  const name = isScalar(node) ? node.value : undefined;
  if (typeof name !== 'string' || !NAME.test(name)) {
    report(node, 'name', 'must be <provider>/<model id>', entry);
    return undefined;
  }
  const names = REHEARSAL_MODELS.map((model) => model.name);
  if (name.startsWith('rehearsal/') && !names.includes(name)) {
    report(node, 'name', `must be one of ${names.join(', ')}`);
    return undefined;
  }
  return name;
}

function tokensOf(
  members: ReadonlyMap<string, ParsedNode | null>,
  field: string,
  report: Report,
): number | undefined {
  const node = members.get(field);
  if (node === undefined) return undefined;
  const value = isScalar(node) ? node.value : undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_TOKENS) return value;
  report(node, field, 'must be a whole number of tokens from 1 to 1000000000');
  return undefined;
}

function capabilitiesOf(node: Node, report: Report): ModelCapabilities {
  const capabilities: ModelCapabilities = {};
  if (node === undefined) return capabilities;
  if (!isMap(node)) {
    report(node, 'capabilities', 'must have members with true or false');
    return capabilities;
  }
  for (const [name, value] of membersOf(node, Object.keys(CAPABILITIES), 'capabilities.', report)) {
    const member = CAPABILITIES[name];
    if (member && isScalar(value) && typeof value.value === 'boolean') capabilities[member] = value.value;
    else report(value, `capabilities.${name}`, 'must be true or false', node);
  }
  return capabilities;
}

function mediaTypesOf(node: Node, report: Report): string[] | undefined {
  if (node === undefined) return undefined;
  const items = isSeq(node) ? node.items : [node];
  const types: string[] = [];
  for (const item of items) {
    const type = isScalar(item) ? item.value : undefined;
    if (isSeq(node) && typeof type === 'string' && MEDIA_TYPE.test(type)) types.push(type);
    else report(item, 'media_types', 'must be a list of media types such as image/png or text/*', node);
  }
  return types;
}
