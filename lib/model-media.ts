import { ANY_TYPE, type ModelEntry, TEXT_TYPES } from './models/entry.ts';

/**
 * Whether a model accepts image and file parts of a media type. The agents service refuses parts that a model does not
 * accept, and the runner replaces older ones by a note. Undefined when it is unknown: the model is tried.
 */
export function acceptsMediaType(model: ModelEntry | undefined, mediaType: string): boolean | undefined {
  const accepted = model?.mediaTypes;
  if (!accepted) return undefined;
  const essence = essenceOf(mediaType);
  const [type = ''] = essence.split('/', 1);
  return (
    accepted.includes(ANY_TYPE) ||
    accepted.includes(essence) ||
    accepted.includes(`${type}/*`) ||
    (isTextType(mediaType) && accepted.includes(TEXT_TYPES))
  );
}

const TEXT_TYPE =
  /^(text\/.+|application\/(json|xml|yaml|x-yaml|toml|javascript|sql|x-ndjson|x-sh)|application\/.+\+(json|xml))$/;

/** Whether the bytes of a media type are text that a model can read. */
export function isTextType(mediaType: string): boolean {
  return TEXT_TYPE.test(essenceOf(mediaType));
}

/** A media type without its parameters. */
export function essenceOf(mediaType: string): string {
  const [essence = ''] = mediaType.split(';', 1);
  return essence.trim().toLowerCase();
}
