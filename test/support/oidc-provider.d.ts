/** Types for the parts of oidc-provider that test/support uses. The package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  export interface Interaction {
    uid: string;
    params: Record<string, unknown>;
    prompt: { name: string };
  }

  interface Saved {
    save(ttl?: number): Promise<string>;
  }

  export class Grant implements Saved {
    constructor(properties: { clientId: string; accountId: string });
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(ttl?: number): Promise<string>;
  }

  export default class Provider {
    constructor(issuer: string, configuration: object);
    proxy: boolean;
    callback(): RequestListener;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
    on(event: string, listener: (...about: never[]) => void): this;
    readonly Grant: typeof Grant;
    readonly Client: { find(id: string): Promise<object | undefined> };
    readonly AccessToken: {
      new (properties: object): Saved & { resourceServer?: object };
      find(value: string): Promise<{ isExpired: boolean } | undefined>;
    };
    readonly ClientCredentials: {
      find(value: string): Promise<{ isExpired: boolean } | undefined>;
    };
    readonly ResourceServer: new (
      identifier: string,
      info: object,
    ) => object;
  }
}
