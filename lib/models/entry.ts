/** Capabilities of a model. An absent member is unknown, and a request that needs it is tried. */
export interface ModelCapabilities {
  /** Requests can offer tools. */
  tools?: boolean;
  /** Messages can have images. */
  images?: boolean;
  /** Answers can be bound to a JSON schema. */
  structuredOutput?: boolean;
  /** The provider caches the beginning of prompts. */
  caching?: boolean;
}

/** The declared limits and capabilities of a model. An absent limit is unknown. */
export interface ModelEntry {
  /** `<provider>/<model id>` */
  name: string;
  /** Tokens of input and output together. */
  contextWindow?: number;
  /** Tokens of one answer, with its reasoning. */
  maxOutput?: number;
  capabilities: ModelCapabilities;
  /** Media types of the image and file parts that the model accepts: `type/subtype`, `type/*` or `*\/*`. */
  mediaTypes?: readonly string[];
}

export const IMAGE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
export const PDF_TYPE = 'application/pdf';
/** Text files, which models read as text. */
export const TEXT_TYPES = 'text/*';
export const ANY_TYPE = '*/*';

/** Whether a list of media types has images. */
export function hasImages(mediaTypes: readonly string[]): boolean {
  return mediaTypes.some((type) => type === ANY_TYPE || type.startsWith('image/'));
}
