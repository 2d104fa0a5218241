// SPDX-License-Identifier: GPL-2.0-or-later
// What DNS answers: all records, and one name as a client would get it.
import {useState} from 'preact/hooks'
import {get, getAll} from '../lib/api.ts'
import {publicationLook} from '../lib/health.ts'
import {useResource} from '../lib/live.ts'
import {href, route, setQuery} from '../lib/router.ts'
import {CopyButton, Empty, PageHead, StateMark, Waiting, Words} from '../ui/bits.tsx'
import {Select, Text} from '../ui/fields.tsx'
import {Table} from '../ui/table.tsx'

/** Names of so many letters have room beside the other columns of a wide screen. */
const KEPT_WHOLE = 44

function Asked({name}: {name: string}) {
	const [type, setType] = useState<'A' | 'AAAA'>('A')
	const [client, setClient] = useState('')
	const preview = useResource(`dns-${name}-${type}-${client}`, async () => name ? get('/api/v1/dns/preview', undefined, {name, type, client: client.trim()}) : undefined, 3000)
	const p = preview.data.value
	return (
		<section class="panel stack" aria-label="Answer">
			<div class="fields">
				<Text label="Name" value={name} onInput={v => setQuery('name', v)} placeholder="shop.lb.example.net" />
				<Select label="Type" value={type} onInput={t => setType(t === 'AAAA' ? t : 'A')} options={['A', 'AAAA']} />
				<Text label="Client's address" value={client} onInput={setClient} help="where client_affinity makes a difference" />
			</div>
			<div aria-live="polite" class="stack live">
				{!name ? <p class="soft">Give a name to see its answer, what is left out of it, and why.</p>
					: preview.error.value?.status ? <p class="t-bad">{preview.error.value.message}</p>
						: !p ? <Waiting what="the answer" error={preview.error.value} /> : <>
							<p><strong>{p.rcode}</strong>, TTL {p.ttl_s} s, serial {p.serial}{p.client_zone && <>; the client is near {p.client_zone}</>}</p>
							{p.detail && <p class="soft">{p.detail}.</p>}
							<Table caption={`Addresses of ${p.name}`} empty={`No ${type} address.`} head={['Address', 'Zone', 'State', 'In how many answers', 'Why']} num={[3]}
								rows={p.addresses.map(a => [<span class="mono">{a.address}</span>, a.zone ?? '', <StateMark as={publicationLook({published: a.published, reason_code: a.reason_code ?? ''})} />, `${a.share_percent} %`, a.detail])} />
							<div class="row"><code><Words text={`dig ${type === 'A' ? '' : `${type} `}${p.name}`} /></code><CopyButton text={`dig ${type === 'A' ? '' : `${type} `}${p.name}`} what="the dig command" /></div>
						</>}
			</div>
		</section>
	)
}

export function DnsPage() {
	const name = route.value.query.get('name') ?? ''
	const [find, setFind] = useState('')
	const records = useResource('records', signal => getAll('/api/v1/dns/records', undefined, 1000, 20000, signal), 5000)
	const r = records.data.value
	const shown = r?.items.filter(x => x.name.includes(find) || x.data.some(d => d.includes(find)))
	return (
		<>
			<PageHead title="DNS" sub={r && `serial ${r.serial}, ${r.items.length} record sets`} />
			<Asked name={name} />
			<section class="panel stack live" aria-label="Records">
				<div class="spread"><h2>Records</h2><div class="filter"><Text label="Find" value={find} onInput={setFind} /></div></div>
				{!shown ? <Waiting what="the records" error={records.error.value} />
					: shown.length === 0 ? <Empty title={r?.items.length ? 'None matches' : 'No name is served'} text="Give a load balancer a dns_name, and set [dns] listen on this node." cli="zonegate dns preview shop.lb.example.net" />
						: <Table caption="Records" head={['Name', 'Type', 'TTL', 'Data', 'Of']} num={[2]}
							rows={shown.slice(0, 500).map(x => [
								<a class={`mono${x.name.length <= KEPT_WHOLE ? ' keep' : ''}`} href={`#/dns?name=${encodeURIComponent(x.name)}`}><Words text={x.name} /></a>, x.type, `${x.ttl_s} s`, <span class="mono"><Words text={x.data.join(', ')} /></span>,
								x.load_balancer ? <a class="nowrap" href={href('load-balancers', x.load_balancer)}>{x.load_balancer}{x.zone && `, ${x.zone}`}</a> : '',
							])} />}
				{shown && shown.length > 500 && <p class="soft">and {shown.length - 500} more: find narrows it</p>}
			</section>
		</>
	)
}
