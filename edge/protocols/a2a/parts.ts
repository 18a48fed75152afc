import type { Artifact, Part } from '@a2a-js/sdk';

export const partOf = (content: NonNullable<Part['content']>, about: Partial<Part> = {}): Part => ({
  ...{ content, metadata: undefined, filename: '', mediaType: '' },
  ...about,
});
export const textPart = (value: string) => partOf({ $case: 'text', value });
export const dataPart = (value: unknown) =>
  partOf({ $case: 'data', value }, { mediaType: 'application/json' });

export const artifactOf = (artifactId: string, name: string, parts: Part[]): Artifact => ({
  ...{ artifactId, name, parts, description: '', metadata: undefined, extensions: [] },
});

/** The artifact with the text of the agent. */
export const answerOf = (parts: Part[]) => artifactOf('answer', 'Answer', parts);
