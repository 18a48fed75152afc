import { BUILT_IN_MODELS } from './built-in.ts';
import { ANY_TYPE, hasImages, IMAGE_TYPES, type ModelEntry, TEXT_TYPES } from './entry.ts';

/** The models with declared limits and capabilities. */
export interface ModelTable {
  /** In the order of the listing. Every name is unique. */
  readonly entries: readonly ModelEntry[];
  /**
   * Returns the entry that applies to a model name (`<provider>/<model id>`). A snapshot with a date at its end and a
   * fine-tuned model of OpenAI have the entry of their base model, unless they have one of their own. A model of Bedrock that
   * is named with a group of regions has the entry of the model. Undefined for an unknown model, which has no declared limits and capabilities.
   */
  find(name: string): ModelEntry | undefined;
}

/** Returns the models of this release with an operator's entries, which extend and override them member by member. */
export function createModelTable(overrides: readonly ModelEntry[] = []): ModelTable {
  const byName = new Map(BUILT_IN_MODELS.map((entry) => [entry.name, entry]));
  for (const entry of overrides) {
    const base = byName.get(entry.name) ?? findIn(byName, entry.name);
    byName.set(entry.name, mergeEntries(base, entry));
  }
  return { entries: [...byName.values()], find: (name) => findIn(byName, name) };
}

/** Returns an entry with the members of `entry`, and for absent ones those of `base`. */
export function mergeEntries(base: ModelEntry | undefined, entry: ModelEntry): ModelEntry {
  const mediaTypes = entry.mediaTypes ?? withImages(base?.mediaTypes, entry.capabilities.images);
  const images = mediaTypes && { images: hasImages(mediaTypes) };
  return {
    ...base,
    ...entry,
    capabilities: { ...base?.capabilities, ...entry.capabilities, ...images },
    ...(mediaTypes && { mediaTypes }),
  };
}

/** The media types of a model after a declaration whether it accepts images. Undefined: unknown. */
function withImages(
  mediaTypes: readonly string[] | undefined,
  images: boolean | undefined,
): readonly string[] | undefined {
  if (images === undefined) return mediaTypes;
  const others = mediaTypes?.filter((type) => type !== ANY_TYPE && !type.startsWith('image/')) ?? [
    TEXT_TYPES,
  ];
  if (!images) return others;
  return mediaTypes && hasImages(mediaTypes) ? mediaTypes : [...IMAGE_TYPES, ...others];
}

/** `-20250929`, `-2025-08-07`, `-0613` or `-latest`; at Vertex AI `@20250929` or `@default`, and `-001`. */
const SNAPSHOT = /(-(\d{8}|\d{4}-\d{2}-\d{2}|\d{4}|latest)|@[a-z0-9-]+|(?<=gemini-.*)-\d{3})$/;
/** A group of regions to which Bedrock distributes requests. */
const REGIONS = /^bedrock\/(global|us|us-gov|eu|apac|jp|au|ca|sa)\./;
/** What providers append to the name of a model for its newest or first snapshot. */
const ALIASES = ['', '-latest', '-0'];
const FINE_TUNED = /^openai\/ft:([^:]+):/;

function findIn(byName: ReadonlyMap<string, ModelEntry>, name: string): ModelEntry | undefined {
  const exact = byName.get(name);
  if (exact) return exact;
  const local = name.replace(REGIONS, 'bedrock/');
  if (local !== name) return findIn(byName, local);
  const base = name.replace(SNAPSHOT, '');
  const alias = ALIASES.find((suffix) => byName.has(base + suffix));
  if (alias !== undefined) return byName.get(base + alias);
  const tuned = FINE_TUNED.exec(name)?.[1];
  return tuned === undefined ? undefined : findIn(byName, `openai/${tuned}`);
}
