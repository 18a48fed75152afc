type Payload = Record<string, unknown> & { uid?: string; grantId?: string; consumed?: unknown };

/** Storage of an identity provider under test. It survives a change of the signing keys. */
export function createIdentityStore() {
  const models = new Map<string, Map<string, Payload>>();

  function all(): [Map<string, Payload>, string, Payload][] {
    return [...models.values()].flatMap((rows) =>
      [...rows].map(([id, payload]): [Map<string, Payload>, string, Payload] => [rows, id, payload]),
    );
  }

  return class {
    readonly #rows: Map<string, Payload>;

    constructor(model: string) {
      this.#rows = models.get(model) ?? new Map();
      models.set(model, this.#rows);
    }

    async upsert(id: string, payload: Payload): Promise<void> {
      this.#rows.set(id, payload);
    }

    async find(id: string): Promise<Payload | undefined> {
      return this.#rows.get(id);
    }

    async findByUid(uid: string): Promise<Payload | undefined> {
      return [...this.#rows.values()].find((payload) => payload.uid === uid);
    }

    async findByUserCode(): Promise<undefined> {}

    async consume(id: string): Promise<void> {
      const payload = this.#rows.get(id);
      if (payload) payload.consumed = Math.floor(Date.now() / 1_000);
    }

    async destroy(id: string): Promise<void> {
      this.#rows.delete(id);
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      for (const [rows, id, payload] of all()) if (payload.grantId === grantId) rows.delete(id);
    }
  };
}
