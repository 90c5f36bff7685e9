import { useWords } from '../words/speech.ts';
import { aDayAheadMs, type Phone } from './phone.ts';
import type { PhoneView } from './phone-view.ts';

/** Switches for the faults that a phone can have. */
export function Switches({ view, phone }: { readonly view: PhoneView; readonly phone: Phone }) {
  const { switches, owners } = useWords();
  return (
    <fieldset className="switches">
      <legend>{switches.group(owners[phone.owner])}</legend>
      <Switch
        label={switches.offline}
        icon="✈"
        isOn={view.isOffline}
        onPress={() => phone.setOffline(!view.isOffline)}
      />
      <Switch
        label={switches.portal}
        icon="⌂"
        isOn={view.isCaptive}
        onPress={() => phone.setCaptive(!view.isCaptive)}
      />
      <Switch label={switches.halfOpen} icon="⊘" isOn={view.isHalfOpen} onPress={phone.silenceStream} />
      <Switch label={switches.lose} icon="✂" isOn={view.losesNext} onPress={phone.loseNextAnswer} />
      <Switch
        label={switches.clock}
        icon="◷"
        isOn={view.clockErrorMs !== 0}
        onPress={() => phone.setClockError(view.clockErrorMs === 0 ? aDayAheadMs : 0)}
      />
      <button type="button" onClick={phone.skipTenMinutes}>
        <span aria-hidden="true">↷</span> {switches.skip}
      </button>
    </fieldset>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly icon: string;
  readonly isOn: boolean;
  readonly onPress: () => void;
}

function Switch({ label, icon, isOn, onPress }: SwitchProps) {
  return (
    <button type="button" aria-pressed={isOn} onClick={onPress}>
      <span aria-hidden="true">{icon}</span> {label}
    </button>
  );
}
