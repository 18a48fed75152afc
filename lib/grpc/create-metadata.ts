import { Metadata } from '@grpc/grpc-js';

/** Returns the metadata of a call with these values by name. */
export function createMetadata(values: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(values)) metadata.set(name, value);
  return metadata;
}
