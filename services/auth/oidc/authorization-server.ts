/** The identity provider in its role as the issuer of access tokens. */
export interface AuthorizationServer {
  /** The issuer as it appears in tokens, or as configured while the identity provider cannot be reached. */
  issuer(): Promise<string>;
  /** Prefix of the scopes in access tokens. */
  scopePrefix: string;
}
