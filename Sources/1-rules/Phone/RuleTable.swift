/// What each rule says in one sentence, and who says so: read by `Rule.sentence` and `Rule.sources`. A letter and a number
/// are a document of `RuleSource`; `-` is our own decision (docs/iphone.md).
enum RuleTable {
  static let text = """
    D-001 | S0 S2 A3 A17 | the payload reaches the app as one dictionary, aps and every custom key unchanged
    D-002 | A8 X5 X6 | only what the app implements and this iOS knows is called
    D-003 | A17 A28 X6 | with both implemented only the call with the fetch handler is made
    D-004 | A8 X10 | the delegate counts only if it is set before didFinishLaunching returns
    D-005 | A17 A18 | handlers must be called, once and in time
    D-006 | S0 A9 | older calls still work on newer systems, newer ones do not exist before
    D-010 | S0 A26 | remote push needs a paid account's entitlement
    D-011 | S0 | every remote notification came through APNs
    D-012 | S0 A19 | from iOS 8 on asking for permission and registering are two calls
    D-013 | S0 A1 A9 | the user is asked once, later requests get the stored answer
    D-014 | S0 A24 | development builds register only on listed phones
    D-015 | S0 A2 A17 | the token stands for this app on this phone
    D-016 | S0 | the app hands its token to the push service
    D-017 | S0 X8 | reinstalling changes the token, and on iOS 9 the old one goes on working
    D-018 | S0 | the registration id proves set-up, token and storage
    D-020 | A15 A18 A19 | each iOS has its own way to ask and its own options
    D-021 | A9 | granted if at least one option was
    D-022 | A1 X1 | a prompt makes the app inactive, and comes once
    D-023 | A27 | an answer outlives its app for a while
    D-024 | A1 A15 | the user may change the permission at any time, the app learns by asking
    D-025 | A1 | provisional notifications go to the centre's history only, with Keep and Turn Off
    D-026 | - | asking for more while provisional prompts
    D-027 | A15 A1 | each of the user's switches takes away exactly its part
    D-028 | S4 | code cannot switch notifications on or off
    D-029 | A19 A15 | code can read the permission, and unregister
    D-030 | X15 A19 | to iOS 7 the types read are those registered, whatever the user set
    D-031 | A8 A15 | the in-app settings button brings the app to the front and asks its delegate
    D-032 | - | before iOS 8 no token without permission
    D-033 | A28 A19 | iOS 8 and 9 tell the token only with permission or the background mode
    D-034 | A19 X4 X11 | without permission a push is delivered silently
    D-040 | A2 A17 | registering again gives the same token
    D-041 | A27 A2 | offline, registering is silent until there is a network
    D-042 | A2 A17 | without the aps-environment entitlement registering fails
    D-043 | A24 A26 | the entitlement decides for sandbox or production
    D-044 | A2 A17 X8 | a restored, erased or reinstalled app has a new token
    D-045 | S0 X8 | APNs learns late that an app is gone
    D-046 | X8 | a token that changes is told again
    D-047 | A26 | APNs may discard alerts for an app that the user turned off
    D-048 | A22 | PushKit has a token of its own
    D-049 | - | the token comes as bytes
    D-060 | S4 A20 | on iOS 3 and 4 unlocking is using the alert: the app is started
    D-061 | S4 A20 | on iOS 3 and 4 unlocking is using the alert: the app is switched to
    D-062 | S4 | iOS 3: the app in front behind the lock gets the push at the unlock
    D-071 | S0 | code of an app that does not run cannot see what comes
    D-072 | S0 | server, APNs, this phone
    D-100 | S0 S4 A20 X3 | in front the app gets the push and nothing is shown
    D-101 | A8 A28 | in front the delegate decides what is shown
    D-102 | A8 A17 X6 | in front a push with content-available is told to the delegate and to the fetch call
    D-103 | A8 A17 | a silent push in front goes to the fetch call, there is nothing to present
    D-104 | A4 A17 | behind, content-available wakes the app beside what is shown
    D-105 | S0 A17 | behind, a plain alert is shown by the system and told to nobody
    D-106 | A4 A17 | behind, a silent push wakes the app if nothing stands against it
    D-107 | A17 X3 | an app that the system had ended is launched in the background for content-available
    D-108 | S0 S4 | for an app that does not run the system shows the alert
    D-109 | A17 X6 | after a force-quit an alert is shown, and wakes nothing
    D-110 | A17 A4 | after a force-quit a silent push wakes nothing
    D-111 | S2 X4 | only a badge: the number on the icon
    D-112 | X4 | only a sound: it is heard, nothing is listed
    D-113 | A8 A28 | in front badge and sound come as the app says
    D-114 | A22 | VoIP pushes go to PushKit, never to the notification calls
    D-115 | S4 A21 | locking sends the app behind
    D-116 | A26 | APNs keeps one push for each app while the phone is offline, and none that has expired
    D-117 | S2 | nothing in the payload is for the user
    D-118 | A26 X16 | push type and payload disagree
    D-120 | A8 X5 X6 | iOS 10 and later without a delegate calls as iOS 9 does
    D-121 | A8 X5 | a delegate without willPresent: nothing is shown, the fetch call is made
    D-122 | A28 | willPresent not answered in time: not presented
    D-123 | S4 S0 | of several notifications only the used one reaches the app
    D-124 | A30 X18 | under the open centre the app is in front and inactive
    D-125 | A30 X18 | to iOS 9 state inactive tells that a notification was used
    D-126 | A13 A15 | hidden previews show what the category allows
    D-127 | A17 A15 S4 | modal alerts to iOS 4, then the user's style
    D-128 | S0 S4 | received where code ran, a click only by using the notification
    D-130 | A28 X1 X2 | using a notification starts the app with the payload in its launch options
    D-131 | S4 S0 | opened by the icon the app learns of no notification
    D-132 | X3 | woken at arrival and used later: told twice
    D-133 | X2 X3 | using a notification brings the app to the front and tells it
    D-134 | S4 S0 | coming to the front by the icon tells of no notification
    D-135 | A8 | a banner over the app tells the delegate alone
    D-136 | A21 X10 | a scene that connects gets the response in its options, and the delegate gets it too
    D-137 | A21 | a connected scene comes to the front, and the response names it
    D-138 | X10 | without a delegate only the scene's options carry the notification
    D-139 | A20 A21 | on a locked phone a use waits for the unlock
    D-140 | S4 A20 | a plain unlock starts nothing
    D-141 | A5 A6 A18 | a button runs the app in the background, launched for it if need be
    D-142 | A6 A13 | a button with the foreground option brings the app to the front
    D-143 | A6 A13 | a button may ask for the unlock first
    D-144 | A13 A18 | what the user typed comes with the action
    D-145 | A13 | dismissing is told only if the category asks for it
    D-146 | A13 | a banner flicked away or ignored is told to nobody
    D-147 | A13 | clearing a group dismisses each of its notifications
    D-148 | A5 A6 | a button runs the app even after a force-quit
    D-149 | A23 | the content extension gets the action first
    D-150 | A13 A14 | without a registered category a notification is plain
    D-151 | S4 | only what shows an entry can be acted on
    D-152 | A6 | locked, the callbacks at arrival are the same
    D-153 | A9 | an entry stays until it is used, removed, replaced or cleared
    D-155 | X1 X2 | launch by the icon
    D-156 | X1 X2 | back by the icon
    D-157 | A21 | to the background, and suspended some seconds later
    D-158 | A21 | launched in the background for an event
    D-159 | A21 X3 | resumed for an event without another didEnterBackground
    D-160 | X1 | under a prompt the app is inactive
    D-161 | A21 | with a scene manifest the scene's delegate is called in place of the app's
    D-162 | A21 | ended by the system: told only if it was executing
    D-163 | A17 A21 | swiped away by the user: nothing wakes it until it is opened or the phone restarts
    D-164 | A21 | without background support leaving the app ends it
    D-165 | A21 | a prepared process counts as not running
    D-166 | A21 X10 | an app with scenes gets no launch options
    D-170 | S0 A4 A17 X11 | what a wake needs, in order
    D-171 | A3 | only the number 1 wakes
    D-172 | S0 A4 A17 | code behind has seconds, then it is over
    D-173 | A17 X6 | the result of a fetch is recorded
    D-174 | A17 | not answered in time, the app is ended
    D-175 | A4 A26 | background pushes have a budget
    D-176 | A26 | priority says how urgently a push is delivered
    D-177 | A4 | one silent push is held, the newest
    D-178 | X16 | what is shown is not held back, its wake may be
    D-179 | A19 X11 S2 | Low Power Mode holds silent pushes back
    D-180 | A19 X4 X11 | Background App Refresh off keeps background pushes out
    D-181 | A19 | the refresh status can be read, and its change is posted
    D-182 | A4 A17 X6 | a force-quit app is woken by nothing
    D-183 | S0 A4 | what a wake may do
    D-184 | S0 | messages come in the foreground only, woken or not
    D-185 | - | before the first unlock nothing is shown with its content
    D-186 | A22 X14 | each VoIP push must report a call
    D-187 | A22 X14 | VoIP launches an app even after a force-quit
    D-188 | A19 A30 | newsstand: one wake a day
    D-189 | - | push types that are no callbacks of an app; Live Activities by ActivityKit
    D-200 | S2 A3 | the keys of aps, and what becomes of others
    D-201 | S2 A3 | custom keys stand beside aps
    D-202 | S2 A3 | an alert is a text, or title, subtitle and body
    D-203 | A30 | the title heads the entry, else the app's name
    D-204 | A23 | a banner shows some lines, pulled open the whole text
    D-205 | A3 | localised texts are looked up in the app's strings
    D-206 | A14 | they are looked up at delivery, in the phone's language
    D-207 | - | a key that is not found shows itself
    D-208 | A14 | %% is a percent sign
    D-209 | A3 A20 | launch image, and the word on the alert's button
    D-210 | S2 A3 A14 | a badge above 0 sets the number
    D-211 | A3 | an absent badge changes nothing
    D-212 | S0 S2 | custom data lets the app choose its page
    D-213 | S0 A3 | a badge is an integer, n more or less is the service's sum
    D-214 | S2 | the number stands at the icon
    D-220 | S0 S2 A3 A11 | default is the system's sound, else a file of the app
    D-221 | A11 | where sound files are looked for
    D-222 | A11 A20 | which sound files play
    D-223 | A30 | a file that is missing plays the default
    D-224 | A3 A11 | a critical sound plays through mute and Focus
    D-225 | A14 | muted, a sound is a vibration
    D-226 | A3 A14 | thread, category, target and filter of a notification
    D-227 | A3 A17 | how large a payload may be
    D-228 | S4 | opening the app by its icon removes nothing
    D-229 | S4 | setting the badge to 0 is the app's way to clear
    D-230 | S4 X7 | badge 0 removes the app's notifications
    D-231 | S4 | 0 and at once another number: removed all the same
    D-232 | X7 | 0 on a badge that is 0 already
    D-233 | X7 | badge -1 hides the number
    D-234 | X7 A9 | removing notifications never changes the badge
    D-235 | A10 A26 | the same identifier replaces
    D-236 | A9 | what is delivered can be listed and removed
    D-237 | S4 X7 | before iOS 10 badge 0 is the only way to remove
    D-238 | A9 | a badge that is not allowed
    D-239 | A2 | reinstalled: no badge, no entries
    D-240 | A14 A13 | notifications of a thread are a group
    D-241 | A13 A14 | the text beneath a group
    D-242 | A9 A18 | categories are one set, replaced as a whole
    D-243 | A13 A18 | action ids are unique, and room for buttons is limited
    D-244 | A13 | the options of actions and categories
    D-245 | A10 A16 | a remote notification's trigger is the push, its date the delivery
    D-250 | S2 A7 | a service extension runs for mutable alerts of apps that may show them
    D-251 | S2 A7 | it may change everything but must leave a text
    D-252 | A7 | it has seconds, and one last chance
    D-253 | A7 | what is shown waits for it, a wake does not
    D-254 | A24 | with the filtering entitlement it may show nothing
    D-255 | - | it crashed: the original is shown
    D-256 | A12 | attachments are checked after it ends
    D-258 | A23 | a content extension shows its category's notifications
    D-260 | A14 A29 | passive: listed only
    D-261 | A14 A29 | active: as ever, held back by Focus and summary
    D-262 | A14 A29 | time-sensitive: breaks through, with the entitlement
    D-263 | A14 A29 | critical: breaks through everything, with entitlement and permission
    D-264 | A14 A29 | a Focus holds back banner, sound and light
    D-265 | A14 A29 | the scheduled summary collects until its time
    D-266 | A29 | the first time-sensitive one asks the user
    D-267 | A14 | communication notifications
    D-268 | A14 | before iOS 15 Do Not Disturb, and no levels
    D-270 | S0 A16 A20 | a local notification comes at its time, without a network
    D-271 | A16 | an interval that repeats is at least a minute
    D-272 | A16 | a calendar trigger matches the components it has
    D-273 | A16 A20 | a region's boundary was crossed
    D-274 | A9 A16 A20 | no trigger: at once
    D-275 | A20 X12 | the soonest 64 stay pending
    D-276 | A20 A8 | a local notification in front
    D-277 | A20 A8 | a local notification that is used
    D-278 | A20 A14 X7 | the badge of a local notification
    D-279 | A15 | refused without permission or content
    D-280 | A20 A9 A7 | pending ones outlive the app's end
    D-300 | S0 X9 | in-app messages come from the service, not from APNs
    D-302 | S0 | messages are kept, and all of them can be fetched
    D-303 | S0 | messages need a connection
    D-304 | S0 X9 | messages come in the foreground only
    D-305 | S0 | back in front, what was missed comes in order, once
    D-306 | S0 | a message shows nothing by itself
    D-308 | X9 S0 | what a message's callback holds
    D-325 | S0 | without network the notified text is not in the app
    D-326 | S0 | one event by message and notification: shown once
    D-330 | S4 | a user may want the daily push only
    D-331 | S4 | the app's own switch for it, off at first
    D-332 | S4 - | the switch needs the network, and goes back when it fails
    D-333 | S4 | the server looks at the value when it pushes
    D-334 | - | 17:00 in the user's zone
    D-335 | A15 | iOS itself offers all or nothing
    D-349 | A26 | what APNs stored or discarded, by its metrics
    """
}
