/**
 * The media types of image and file parts that known models accept. The agents service refuses parts that a model does
 * not accept, and the runner replaces older ones by a note. A model that is missing here is tried.
 */

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const PDF = 'application/pdf';
const ANY = '*/*';
/** Text files, which models read as text. */
const TEXT = 'text/*';

/** The first matching row applies. Sources: the model overviews of Anthropic and OpenAI. */
const MODELS: readonly (readonly [name: RegExp, accepted: readonly string[]])[] = [
  [/^rehearsal\/shell$/, []],
  [/^rehearsal\//, [ANY]],
  [/^anthropic\/claude-(instant|v?2)/, [TEXT]],
  [/^anthropic\/claude-/, [...IMAGES, PDF, TEXT]],
  [/^openai\/(gpt-3\.5|gpt-4$|gpt-4-(0|32k)|o1-mini|o1-preview|o3-mini)/, [TEXT]],
  [/^openai\/gpt-4-(turbo|vision)/, [...IMAGES, TEXT]],
  [/^openai\/(gpt-4o|gpt-4\.1|gpt-[5-9]|chatgpt-4o|o1|o3|o4)/, [...IMAGES, PDF, TEXT]],
];

/** Whether a model accepts parts of a media type. Undefined when the capabilities of the model are unknown. */
export function acceptsMediaType(model: string, mediaType: string): boolean | undefined {
  const accepted = MODELS.find(([name]) => name.test(model))?.[1];
  if (!accepted) return undefined;
  return (
    accepted.includes(ANY) ||
    accepted.includes(essenceOf(mediaType)) ||
    (isTextType(mediaType) && accepted.includes(TEXT))
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
