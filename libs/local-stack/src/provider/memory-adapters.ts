import type { AdapterFactory, AdapterPayload } from 'oidc-provider';

/** Keeps what the provider issues for as long as it runs. The provider itself judges what has expired. */
export function createMemoryAdapters(): AdapterFactory {
  const stored = new Map<string, AdapterPayload>();
  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`;
    return {
      upsert: async (id, payload) => void stored.set(keyOf(id), payload),
      find: async (id) => stored.get(keyOf(id)),
      findByUid: async (uid) => [...stored].find(([key, one]) => key.startsWith(keyOf('')) && one.uid === uid)?.[1],
      findByUserCode: async () => undefined,
      consume: async (id) =>
        void Object.assign(stored.get(keyOf(id)) ?? {}, { consumed: Math.floor(Date.now() / 1_000) }),
      destroy: async (id) => void stored.delete(keyOf(id)),
      async revokeByGrantId(grantId) {
        for (const [key, one] of stored) if (one.grantId === grantId) stored.delete(key);
      },
    };
  };
}
