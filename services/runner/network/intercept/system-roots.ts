import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

/** Returns the root certificates of this machine as PEM, or those of Node when the machine has none. */
export function systemRoots(): readonly string[] {
  // A machine can have several files with the same certificate.
  const system = new Set(getCACertificates('system'));
  return system.size > 0 ? [...system] : getCACertificates('bundled');
}

let bundle: string | undefined;

/** The root certificates as one text, for programs in sandboxes. */
export function systemRootBundle(): string {
  bundle ??= systemRoots()
    .map((certificate) => `${certificate.trim()}\n`)
    .join('');
  return bundle;
}

/** Returns a function that creates a context of the client side of TLS at its first call. */
export function trusting(roots: () => readonly string[]): () => SecureContext {
  let context: SecureContext | undefined;
  return () => {
    context ??= createSecureContext({ ca: [...roots()], minVersion: 'TLSv1.2' });
    return context;
  };
}
