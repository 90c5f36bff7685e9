import type { UpgradeRecords } from '@auth-account/lifecycle/upgrade';
import type { Collections } from './collections.ts';

/** Writes wait for a majority, but not for long. A later start writes the same again. */
const writeConcern = { w: 'majority', wtimeoutMS: 5_000 } as const;

/** Records the generations of builds. What is noted first stays. */
export function createUpgradeStore(
  { upgrades }: Pick<Collections, 'upgrades'>,
  now = () => new Date(),
): UpgradeRecords {
  return {
    list: () => upgrades.find().toArray(),
    async note({ generation, version, needs }, state) {
      const kept = (field: string, value: unknown) => ({ [field]: { $ifNull: [`$${field}`, value] } });
      const noted = { ...kept('version', version), ...kept('needs', needs), ...kept(state, now()) };
      await upgrades.updateOne({ _id: generation }, [{ $set: noted }], { upsert: true, writeConcern });
    },
    async reopen({ generation }) {
      await upgrades.updateMany({ _id: { $gt: generation } }, { $unset: { opened_at: true } }, { writeConcern });
    },
  };
}
