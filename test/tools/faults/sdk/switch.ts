import type { DeviceSignal } from '@auth-account/client';

/** A setting of a phone that its user changes. */
export interface Switch {
  isOn(): boolean;
  turn(value: boolean): void;
  readonly signal: DeviceSignal;
}

/** Creates a switch that is on. */
export function createSwitch(onTurn: (value: boolean) => void = () => undefined): Switch {
  const listeners = new Set<(value: boolean) => void>();
  let isOn = true;
  return {
    isOn: () => isOn,
    turn(value) {
      isOn = value;
      onTurn(value);
      for (const listener of listeners) listener(value);
    },
    signal: {
      subscribe(listener) {
        listeners.add(listener);
        listener(isOn);
        return () => listeners.delete(listener);
      },
    },
  };
}
