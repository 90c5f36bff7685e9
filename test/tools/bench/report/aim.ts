/** An aim, and its result. */
export interface Aim {
  readonly what: string;
  readonly aim: string;
  readonly measured: string;
  readonly isMet: boolean;
  /** A further, more ambitious aim. */
  readonly stretch?: { readonly aim: string; readonly isMet: boolean };
}

export interface Limit {
  readonly what: string;
  readonly value: number;
  readonly most: number;
  readonly stretch?: number;
  readonly show: (value: number) => string;
}

/** Creates the aim of at most a value; NaN does not meet it. */
export function atMost({ what, value, most, stretch, show }: Limit): Aim {
  return {
    what,
    aim: `≤ ${show(most)}`,
    measured: show(value),
    isMet: value <= most,
    ...(stretch === undefined ? {} : { stretch: { aim: `≤ ${show(stretch)}`, isMet: value <= stretch } }),
  };
}

/** Creates the aim of at least a multiple. */
export function atLeastTimes(what: string, value: number, least: number, detail: string): Aim {
  return { what, aim: `≥ ${least} ×`, measured: `${value.toFixed(2)} × (${detail})`, isMet: value >= least };
}
