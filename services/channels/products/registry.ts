import type { Product, ProductContext } from './product.ts';
import { ProductError } from './product-error.ts';

/** Each loader imports the vendor's library. */
const LOADERS: Readonly<Record<string, (context: ProductContext) => Promise<Product>>> = {
  discord: async (context) => (await import('./discord/product.ts')).createDiscordProduct(context),
  http: async (context) => (await import('./http/product.ts')).createHttpProduct(context),
  slack: async (context) => (await import('./slack/product.ts')).createSlackProduct(context),
  telegram: async (context) => (await import('./telegram/product.ts')).createTelegramProduct(context),
};

type SharedContext = Omit<ProductContext, 'apiUrl'> & {
  apiUrls: Readonly<Record<string, string | undefined>>;
};

/** The products by provider. */
export class ProductRegistry {
  readonly #context: SharedContext;
  readonly #loaded = new Map<string, Promise<Product>>();

  constructor(context: SharedContext) {
    this.#context = context;
  }

  /** The products that channels can have. */
  static readonly providers: readonly string[] = Object.keys(LOADERS);

  /** Loads a product at its first use. Rejects with ProductError for an unknown one. */
  load(provider: string): Promise<Product> {
    const known = this.#loaded.get(provider);
    if (known) return known;
    const loader = Object.hasOwn(LOADERS, provider) ? LOADERS[provider] : undefined;
    if (!loader)
      return Promise.reject(new ProductError('unauthorized', `This release has no product ${provider}.`));
    const { apiUrls, ...context } = this.#context;
    const loading = loader({ ...context, apiUrl: apiUrls[provider] });
    this.#loaded.set(provider, loading);
    // A failed import can succeed later.
    loading.catch(() => this.#loaded.delete(provider));
    return loading;
  }
}
