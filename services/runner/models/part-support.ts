import { essenceOf } from '../../../lib/model-media.ts';

const MIB = 1024 * 1024;
const IMAGE_OR_PDF = /^(image\/.+|application\/pdf)$/;

/** The image and file parts that the protocol of a provider can carry. Text files are carried by every protocol. */
export interface PartSupport {
  /** The media types in user messages, without parameters. */
  messages: RegExp;
  /** The media types in tool results; undefined if tool results hold only text. Other parts follow in a user message. */
  toolResults: RegExp | undefined;
  /** The media types in answers; undefined if answers hold only text. Other parts follow in a user message. */
  answers?: RegExp;
  /** Text files are documents of their own. Otherwise they become text parts. */
  textDocuments: boolean;
  /** The sum of the parts of one request in bytes. Providers refuse longer requests. */
  maxBytes: number;
  /** The number of parts of one request. */
  maxParts: number;
}

/** Anthropic accepts requests of 32 MB, in which parts are Base64, and 100 images and PDF documents. */
export const ANTHROPIC_PARTS: PartSupport = {
  messages: IMAGE_OR_PDF,
  toolResults: IMAGE_OR_PDF,
  textDocuments: true,
  maxBytes: 22 * MIB,
  maxParts: 100,
};

/** OpenAI accepts files of 50 MB per request. */
export const OPENAI_PARTS: PartSupport = {
  messages: IMAGE_OR_PDF,
  toolResults: IMAGE_OR_PDF,
  textDocuments: false,
  maxBytes: 36 * MIB,
  maxParts: 500,
};

/** Gemini accepts requests of 20 MB, in which parts are Base64. Older models get the parts of tool results beside them. */
export const GEMINI_PARTS: PartSupport = {
  messages: /^(image\/.+|audio\/.+|video\/.+|application\/pdf)$/,
  toolResults: IMAGE_OR_PDF,
  textDocuments: false,
  maxBytes: 14 * MIB,
  maxParts: 500,
};

/** Bedrock accepts requests of 20 MB, in which parts are Base64, and 20 images. */
export const BEDROCK_PARTS: PartSupport = {
  messages: /^(image\/(png|jpeg|gif|webp)|application\/pdf)$/,
  toolResults: /^image\/(png|jpeg|gif|webp)$/,
  textDocuments: false,
  maxBytes: 14 * MIB,
  maxParts: 20,
};

export const ENDPOINT_PARTS: PartSupport = {
  messages: /^(image\/.+|video\/.+|audio\/(wav|mp3|mpeg)|application\/pdf)$/,
  toolResults: undefined,
  textDocuments: false,
  maxBytes: 36 * MIB,
  maxParts: 500,
};

export const REHEARSAL_PARTS: PartSupport = {
  messages: /./,
  toolResults: /./,
  answers: /./,
  textDocuments: false,
  maxBytes: 64 * MIB,
  maxParts: 500,
};

/** Whether one of the media types of a protocol is the given one, without its parameters. */
export function matchesMedia(types: RegExp, mediaType: string): boolean {
  return types.test(essenceOf(mediaType));
}
