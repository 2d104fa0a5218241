// SPDX-License-Identifier: GPL-2.0-or-later
// The zones of the document, and taking one out of all load balancers.
import {useBalancers, useOverrides, useZones} from '../lib/load.ts'
import {plural} from '../lib/format.ts'
import {publicationLook} from '../lib/health.ts'
import {go, href} from '../lib/router.ts'
import {whyNot} from '../lib/session.ts'
import {Act, Empty, PageHead, StateMark, Waiting} from '../ui/bits.tsx'
import {Cards} from '../ui/paged.tsx'
import {openShift, ShiftBanner} from './shift.tsx'

const SHIFTED = publicationLook({published: false, reason_code: 'withdrawn_manual'})

export function Zones() {
	const zones = useZones(), balancers = useBalancers(), overrides = useOverrides()
	const list = zones.data.value?.items
	const shifts = (overrides.data.value?.items ?? []).filter(o => o.kind === 'zone_shift')
	const shiftsOf = (zone: string) => shifts.filter(s => s.zone === zone)
	const whyNotShift = (zone: string): string => {
		const whole = shiftsOf(zone).find(s => s.load_balancer === '*')
		return whyNot('operator') || (of(zone).length ? '' : 'it is in no load balancer') || (whole ? `it is shifted away from all already, by ${whole.who}` : '')
	}
	const of = (zone: string) => (balancers.data.value?.items ?? []).filter(lb => lb.zones[zone])
	return (
		<>
			<PageHead title="Zones" sub={list && plural(list.length, 'zone')}><Act class="main-action" why={whyNot('editor')} onClick={() => go('zones', ':new')}>New zone</Act></PageHead>
			{shifts.map(s => <ShiftBanner key={s.id} shift={s} />)}
			{!list ? <Waiting what="the zones" error={zones.error.value} />
				: <Cards items={list} one="zone" keyOf={z => z.name} words={z => `${z.name} ${z.description}`}
					none={<Empty title="No zone yet" text="A zone is a place that can fail as a whole: a hall, a site. Load balancers have an address in each of theirs." cli="zonegate zone set zone-a" />}
					card={z => (
						<article class="panel card stack live">
							<div class="spread"><h2><a href={href('zones', z.name, 'edit')}>{z.name}</a></h2>{shiftsOf(z.name).length > 0 && <StateMark as={SHIFTED} />}</div>
							{z.description && <p>{z.description}</p>}
							<p class="soft small">{z.client_subnets.length ? `clients: ${z.client_subnets.slice(0, 4).join(', ')}${z.client_subnets.length > 4 ? ' …' : ''}` : 'no client networks'}</p>
							<p class="small">In {of(z.name).length ? plural(of(z.name).length, 'load balancer') : 'no load balancer'}{of(z.name).length > 0 && ': '}{of(z.name).slice(0, 5).map((lb, i) => <span key={lb.name}>{i > 0 && ', '}<a href={href('load-balancers', lb.name)}>{lb.name}</a></span>)}</p>
							<div class="actions">
								<Act why={whyNotShift(z.name)} label={`Shift away from all: ${z.name}`} onClick={() => openShift(z.name, '*')}>Shift away from all</Act>
								<Act why={whyNot('editor')} label={`Edit ${z.name}`} onClick={() => go('zones', z.name, 'edit')}>Edit</Act>
							</div>
						</article>
					)} />}
		</>
	)
}
