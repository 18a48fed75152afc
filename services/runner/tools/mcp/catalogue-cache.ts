import type { Catalogue } from '../../../../lib/mcp-catalogue/catalogue.ts';

interface LoadedCatalogue {
  catalogue: Catalogue;
  /** The bytes of its canonical JSON. */
  bytes: number;
}

const MAX_BYTES = 32 * 1024 * 1024;

/** The most recently used catalogues, up to 32 MiB of canonical JSON. A catalogue never changes. */
export class CatalogueCache {
  readonly #loading = new Map<string, Promise<LoadedCatalogue>>();
  /** In the order of their last use. */
  readonly #loaded = new Map<string, LoadedCatalogue>();
  #bytes = 0;

  async get(sha256: string, load: () => Promise<LoadedCatalogue>): Promise<Catalogue> {
    const known = this.#loaded.get(sha256);
    if (known) {
      this.#loaded.delete(sha256);
      this.#loaded.set(sha256, known);
      return known.catalogue;
    }
    const loading = this.#loading.get(sha256) ?? this.#load(sha256, load);
    return (await loading).catalogue;
  }

  #load(sha256: string, load: () => Promise<LoadedCatalogue>): Promise<LoadedCatalogue> {
    const loading = load()
      .then((loaded) => {
        this.#add(sha256, loaded);
        return loaded;
      })
      .finally(() => this.#loading.delete(sha256));
    this.#loading.set(sha256, loading);
    return loading;
  }

  #add(sha256: string, loaded: LoadedCatalogue): void {
    this.#loaded.set(sha256, loaded);
    this.#bytes += loaded.bytes;
    for (const [oldest, { bytes }] of this.#loaded) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#loaded.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}
