import type { PhoneNetwork } from './phone-network.ts';
import type { SetView, ViewStore } from './phone-view.ts';

export const noTrouble = {
  isOffline: false,
  isCaptive: false,
  losesNext: false,
  isHalfOpen: false,
  clockErrorMs: 0,
} as const;

/** Causes the faults that the switches and the stories cause on a phone. */
export function troublesOf(network: PhoneNetwork, view: ViewStore, set: SetView) {
  return {
    setOffline(isOffline: boolean) {
      set({ isOffline });
      network.setOffline(isOffline);
    },
    setCaptive(isCaptive: boolean) {
      set({ isCaptive });
      network.setCaptive(isCaptive);
    },
    loseNextAnswer() {
      set({ losesNext: true });
      network.loseNextAnswer(true);
    },
    silenceStream() {
      set({ isHalfOpen: view.read().isStreamOpen });
      network.setHalfOpen(true);
    },
    setClockError: (clockErrorMs: number) => set({ clockErrorMs }),
    fix() {
      set(noTrouble);
      network.setOffline(false);
      network.setCaptive(false);
      network.setHalfOpen(false);
      network.loseNextAnswer(false);
    },
  };
}
