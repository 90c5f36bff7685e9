/** What was aimed at, and what came of it. */
export interface Aim {
  readonly what: string;
  readonly aim: string;
  readonly measured: string;
  readonly isMet: boolean;
  /** Beyond the aim. */
  readonly stretch?: { readonly aim: string; readonly isMet: boolean };
}

export interface Limit {
  readonly what: string;
  readonly value: number;
  readonly most: number;
  readonly stretch?: number;
  readonly show: (value: number) => string;
}

/** At most so much. A value that is not a number does not meet it. */
export function atMost({ what, value, most, stretch, show }: Limit): Aim {
  return {
    what,
    aim: `≤ ${show(most)}`,
    measured: show(value),
    isMet: value <= most,
    ...(stretch === undefined ? {} : { stretch: { aim: `≤ ${show(stretch)}`, isMet: value <= stretch } }),
  };
}

/** At least as many times. */
export function atLeastTimes(what: string, value: number, least: number, detail: string): Aim {
  return { what, aim: `≥ ${least} ×`, measured: `${value.toFixed(2)} × (${detail})`, isMet: value >= least };
}
